// GET of a stream: catch-up, long-poll, server-sent events in both vocabularies.
#include <utility>

#include <fmt/format.h>

#include "core/log/names.h"
#include "http/json_body.h"
#include "http/offset_token.h"
#include "http/stream_routes.h"

namespace holdfast::http {
namespace {

enum class Live : std::uint8_t { kNo, kLongPoll, kSse, kEvents };

struct ReadQuery {
  Live live = Live::kNo;
  From from{};
  bool from_tail = false;  // "now": whatever is there is left out
  bool folded = false;
  std::uint64_t client_interval = 0;
};

std::unexpected<Error> bad(std::string message) {
  return fail(ErrorCode::kInvalidArgument, std::move(message));
}

Result<Live> parse_live(const Query& query) {
  const auto given = query.get("live");
  if (!given || *given == "false") return Live::kNo;
  if (*given == "long-poll") return Live::kLongPoll;
  if (*given == "sse") return Live::kSse;
  if (*given == "events") return Live::kEvents;
  return bad(
      fmt::format("live is '{}': it must be long-poll, sse or events", core::printable(*given)));
}

Result<void> parse_place(ReadQuery& read, std::string_view place, std::string_view what) {
  if (place == "-1") return {};
  if (place == "now") {
    read.from = From::tail();
    read.from_tail = true;
    return {};
  }
  const auto offset = parse_offset_token(place);
  if (!offset) {
    return bad(
        fmt::format("{} is '{}': it must be -1, now, or a Stream-Next-Offset as an answer "
                    "gave it",
                    what, core::printable(place)));
  }
  read.from = *offset;
  return {};
}

Result<ReadQuery> parse_read(const Request& request) {
  const auto query = Query::parse(request.query);
  if (!query) return bad("the query's percent-encoding is broken");
  ReadQuery read;
  auto live = parse_live(*query);
  if (!live) return fail(std::move(live.error()));
  read.live = *live;
  const auto offset = query->get("offset");
  const auto last = query->get("last");
  if (query->count("offset") > 1) return bad("offset is given more than once");
  if (offset && last) return bad("offset and last exclude each other: give one of them");
  if ((read.live == Live::kLongPoll || read.live == Live::kSse) && !offset && !last) {
    return bad(
        "live reads need an offset: -1 for the beginning, now for the tail, or the "
        "Stream-Next-Offset of an earlier answer");
  }
  const auto resumed = request.header("Last-Event-ID");
  if (resumed && !resumed->empty() && read.live == Live::kEvents) {
    if (auto placed = parse_place(read, *resumed, "Last-Event-ID"); !placed) {
      return fail(std::move(placed.error()));
    }
  } else if (offset) {
    if (auto placed = parse_place(read, *offset, "offset"); !placed) {
      return fail(std::move(placed.error()));
    }
  } else if (last) {
    const auto count = parse_decimal(*last);
    if (!count) {
      return bad(
          fmt::format("last is '{}': it must be a number of chunks", core::printable(*last)));
    }
    read.from = From::last(*count);
  }
  const auto fold = query->get("fold");
  if (fold && *fold != "0" && *fold != "1") {
    return bad(fmt::format("fold is '{}': it must be 0 or 1", core::printable(*fold)));
  }
  read.folded = fold == "1";
  // A cursor that is no number came from elsewhere; the answer gives a good one.
  read.client_interval = parse_decimal(query->get("cursor").value_or("0")).value_or(0);
  return read;
}

StreamRoutes::Read begin_follow(const ReadQuery& query, const std::string& name,
                                const OpenedPtr& opened, Result<FollowStart>&& batch) {
  if (!batch) return StreamRoutes::Read{error_response(batch.error())};
  StreamRoutes::Read read;
  read.follow = std::move(*batch);
  read.follow->opened = opened;
  read.follow->name = name;
  read.follow->folded = query.folded;
  read.follow->client_interval = query.client_interval;
  return read;
}

}  // namespace

StreamRoutes::Read StreamRoutes::read(const Request& request, const std::string& name) {
  auto query = parse_read(request);
  if (!query) return Read{error_response(query.error())};
  const std::uint64_t interval = cursor_interval(options.clock->now(), query->client_interval);
  OpenedPtr used;
  if (query->live == Live::kSse || query->live == Live::kEvents) {
    const Form form = query->live == Live::kSse ? Form::kProtocol : Form::kEvents;
    const ReadOptions range{.from = query->from,
                            .limits = {.records_max = 8'192, .bytes_max = 128u << 10},
                            .folded = query->folded};
    auto batch = cache.with(name, [&](const OpenedPtr& opened) {
      used = opened;
      return read_batch(opened, range, form, true, interval);
    });
    return begin_follow(*query, name, used, std::move(batch));
  }
  const ReadOptions range{.from = query->from,
                          .limits = {.bytes_max = options.read_bytes_max},
                          .folded = query->folded};
  auto chunks = cache.with(name, [&](const OpenedPtr& opened) {
    used = opened;
    return opened->stream.read(range);
  });
  if (!chunks) return Read{error_response(chunks.error())};
  if (query->live == Live::kLongPoll && chunks->items.empty()) {
    if (!chunks->closed) {
      Read read;
      read.poll = PollStart{.opened = used,
                            .name = name,
                            .cursor = chunks->next,
                            .client_interval = query->client_interval};
      return read;
    }
    Response response{204};
    response.set("Stream-Next-Offset", offset_token(chunks->next));
    response.set("Stream-Up-To-Date", "true");
    response.set("Stream-Cursor", std::to_string(interval));
    response.set("Stream-Closed", "true");
    response.set("Cache-Control", "no-store");
    return Read{std::move(response)};
  }
  ReadAnswer answer{.content_type = used->content_type,
                    .id = used->id,
                    .chunks = chunks->items,
                    .from = chunks->from,
                    .next = chunks->next,
                    .at_tail = chunks->at_tail,
                    .closed = chunks->closed,
                    .folded = query->folded,
                    .shared_cache = options.token.empty()};
  if (query->live == Live::kLongPoll) answer.interval = interval;
  Response response = answer_read(answer, request.header("If-None-Match"));
  if (query->from_tail) {
    // "now" means another place each time: nothing to keep, nothing to compare.
    std::erase_if(response.headers, [](const auto& header) {
      return header.first == "ETag" || header.first == "Cache-Control";
    });
    response.set("Cache-Control", "no-store");
  }
  return Read{std::move(response)};
}

}  // namespace holdfast::http
