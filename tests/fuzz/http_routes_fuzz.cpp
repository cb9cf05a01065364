// The HTTP routes: bytes as a client might send them, cut into pieces, through the parser, the
// access access rules and every route, over a memory store. The first byte says how the rest is
// cut.
//
// Checked beside the sanitizers: an answer's head never has more lines than headers (nothing a
// client sent can add one), every frame of events is one whole HTTP chunk, and nothing is answered
// that the status table does not know.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <future>
#include <string>
#include <string_view>

#include <holdfast/check.h>
#include <holdfast/store.h>
#include <holdfast/stream.h>

#include "http/access.h"
#include "http/access_log.h"
#include "http/connection.h"
#include "http/page.h"
#include "http/request_parser.h"
#include "http/stream_cache.h"
#include "http/stream_routes.h"

namespace holdfast::http {
namespace {

constexpr RequestLimits kLimits{
    .header_bytes_max = 4'096, .headers_max = 20, .body_bytes_max = 4'096};

struct Surface {
  std::unique_ptr<Store> store = make_memory_store();
  Streams streams{*store};
  ServerOptions options{};
  StreamCache cache{streams, 4};
  Access access{options};
  StreamRoutes routes{streams, cache, options};
};

void check_frame(const FramePtr& frame) {
  if (!frame) return;
  const std::string_view bytes = frame->chunked();
  HOLDFAST_CHECK(bytes.size() > 12 && bytes.substr(8, 2) == "\r\n" && bytes.ends_with("\r\n"),
                 "a frame must be one HTTP chunk");
  HOLDFAST_CHECK(std::stoul(std::string{bytes.substr(0, 8)}, nullptr, 16) == bytes.size() - 12,
                 "a chunk must tell its length");
  HOLDFAST_CHECK(frame->plain().ends_with("\n\n"), "events must end");
}

void check_response(const Surface& surface, const Request& request, const Response& response) {
  HOLDFAST_CHECK(reason_phrase(response.status) != "Unknown", "an answer's status must be known");
  const std::string head =
      response_head(response, &request, surface.access, Timestamp{}, HeadKind::kKeepAlive);
  const auto lines = static_cast<std::size_t>(std::ranges::count(head, '\n'));
  // Status line, Date, four or fewer of CORS, nosniff, resource policy, length, connection, blank.
  HOLDFAST_CHECK(lines <= response.headers.size() + 10, "a client must not add header lines");
  HOLDFAST_CHECK(std::ranges::count(head, '\r') == std::ranges::count(head, '\n') &&
                     head.find('\0') == std::string::npos,
                 "a head's lines must end alike");
}

Response answer(Surface& surface, const Request& request) {
  if (auto refused = surface.access.refuse(request)) return std::move(*refused);
  if (request.path == "/v1/streams") return surface.routes.list(request);
  auto name = stream_name(request.path);
  if (!name) return page_response(request);
  switch (request.method) {
    case Method::kPut: return surface.routes.create(request, *name);
    case Method::kHead: return surface.routes.head(*name);
    case Method::kDelete: return surface.routes.remove(*name);
    case Method::kPost: {
      std::promise<Response> done;
      auto answered = done.get_future();
      surface.routes.append(request, *name, [&done](StreamRoutes::AppendOutcome outcome) {
        done.set_value(std::move(outcome.response));
      });
      return answered.get();
    }
    default: {
      auto read = surface.routes.read(request, *name);
      if (read.response) return std::move(*read.response);
      if (read.follow) check_frame(read.follow->first);
      return Response{200};
    }
  }
}

void clear(Surface& surface) {
  const auto page = surface.streams.list();
  if (!page) return;
  for (const StreamInfo& info : page->streams) (void)surface.streams.remove(info.name);
}

void run(std::string_view bytes, std::size_t piece) {
  static Surface surface;
  RequestParser parser{kLimits};
  std::string pending;
  while (!bytes.empty() && parser.state() != RequestParser::State::kFailed) {
    pending += bytes.substr(0, piece);
    bytes.remove_prefix(std::min(piece, bytes.size()));
    for (;;) {
      const std::size_t used = parser.feed(pending);
      HOLDFAST_CHECK(used <= pending.size(), "a parser must not take more than there is");
      pending.erase(0, used);
      if (parser.state() != RequestParser::State::kDone) break;
      const Request& request = parser.request();
      check_response(surface, request, answer(surface, request));
      const std::string line = access_line({.method = request.method_name, .path = request.path});
      HOLDFAST_CHECK(std::ranges::count(line, '\n') == 1, "a log line must stay one line");
      parser.reset();
      if (pending.empty()) break;
    }
    if (pending.size() > 2 * kLimits.header_bytes_max) break;
  }
  clear(surface);
}

}  // namespace
}  // namespace holdfast::http

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  holdfast::http::run(bytes.substr(1), std::size_t{data[0]} + 1);
  return 0;
}
