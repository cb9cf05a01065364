// What comes from a socket: requests cut at any place give the same answer as requests in one
// piece, and everything that is read out of them keeps its bounds.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "http/json_body.h"
#include "http/offset_token.h"
#include "http/request_parser.h"
#include "http/url.h"

namespace {

using namespace holdfast;

struct Outcome {
  std::vector<std::string> bodies;
  http::RequestParser::State last{};
  int status = 0;
};

constexpr http::RequestLimits kLimits{
    .header_bytes_max = 4u << 10, .headers_max = 20, .body_bytes_max = 64u << 10};

void look_inside(const http::Request& request) {
  (void)http::percent_decode(request.path);
  if (const auto query = http::Query::parse(request.query)) {
    if (const auto offset = query->get("offset")) {
      if (const auto parsed = http::parse_offset_token(*offset)) {
        if (http::parse_offset_token(http::offset_token(*parsed)) != parsed) std::abort();
      }
    }
  }
  if (request.headers.size() > kLimits.headers_max) std::abort();
  if (request.body.size() > kLimits.body_bytes_max) std::abort();
  if (const auto values = http::split_json_body(request.body)) {
    for (const auto value : *values) {
      if (value.data() < request.body.data() ||
          value.data() + value.size() > request.body.data() + request.body.size()) {
        std::abort();
      }
    }
  }
}

/// Feeds the bytes in pieces of so many.
Outcome feed(std::string_view bytes, std::size_t piece_max) {
  http::RequestParser parser{kLimits};
  Outcome outcome;
  std::string pending;
  while (!bytes.empty()) {
    pending.append(bytes.substr(0, piece_max));
    bytes.remove_prefix(std::min(piece_max, bytes.size()));
    while (!pending.empty()) {
      const auto used = parser.feed(pending);
      if (used > pending.size()) std::abort();
      pending.erase(0, used);
      if (parser.state() == http::RequestParser::State::kDone) {
        look_inside(parser.request());
        outcome.bodies.push_back(parser.request().method_name + parser.request().body);
        parser.reset();
      } else if (parser.state() == http::RequestParser::State::kFailed) {
        outcome.last = parser.state();
        outcome.status = parser.status();
        if (outcome.status < 400 || outcome.status > 599) std::abort();
        return outcome;
      } else if (used == 0) {
        break;  // it wants more
      }
    }
  }
  outcome.last = parser.state();
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes{reinterpret_cast<const char*>(data) + 1, size - 1};
  const auto whole = feed(bytes, SIZE_MAX);
  const auto pieces = feed(bytes, 1 + data[0] % 32);
  if (whole.bodies != pieces.bodies) std::abort();
  return 0;
}
