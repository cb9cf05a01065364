#include "http/long_poll.h"

#include <utility>

#include <fmt/format.h>

#include "http/json_body.h"
#include "http/offset_token.h"

namespace holdfast::http {

Response answer_read(const ReadAnswer& answer, std::optional<std::string_view> if_none_match) {
  Response response{200};
  std::string tag =
      fmt::format("\"{}:{}:{}{}{}\"", answer.id.text(), answer.from.value, answer.next.value,
                  answer.folded ? ":f" : "", answer.closed ? ":c" : "");
  const bool same = if_none_match == tag && !answer.interval;
  if (same) response.status = 304;
  response.set("Content-Type", std::string{answer.content_type});
  response.set("Stream-Next-Offset", offset_token(answer.next));
  if (answer.at_tail) response.set("Stream-Up-To-Date", "true");
  if (answer.closed) response.set("Stream-Closed", "true");
  if (answer.interval) response.set("Stream-Cursor", std::to_string(*answer.interval));
  response.set("ETag", std::move(tag));
  // What lies before the tail does not change; at the tail a cache must ask again.
  if (answer.at_tail && !answer.interval) {
    response.set("Cache-Control", "no-cache");
  } else {
    response.set("Cache-Control",
                 answer.shared_cache ? "public, max-age=20" : "private, max-age=20");
  }
  if (same) return response;
  if (is_json(answer.content_type)) {
    response.body = json_array(answer.chunks);
  } else {
    std::size_t size = 0;
    for (const Chunk& chunk : answer.chunks) size += chunk.bytes.size();
    response.body.reserve(size);
    for (const Chunk& chunk : answer.chunks) response.body.append(chunk.bytes);
  }
  return response;
}

LongPoll::LongPoll(Context& context, Hub& hub, std::shared_ptr<Connection> connection,
                   PollStart start)
    : Member{Form::kPoll},
      context_{context},
      hub_{hub},
      connection_{std::move(connection)},
      start_{std::move(start)},
      self_{std::make_shared<LongPoll*>(this)} {
  cursor = start_.cursor;
  ++context_.metrics.long_polls;
}

LongPoll::~LongPoll() {
  *self_ = nullptr;
  --context_.metrics.long_polls;
}

void LongPoll::begin() {
  context_.long_poll.add(*this);
  channel_ = hub_.channel(start_.name, start_.opened);
  channel_->join(*this);
}

// Answering destroys this: nothing of it is touched afterwards.
void LongPoll::respond(Response response) {
  leave();
  if (const auto connection = connection_.lock()) connection->respond(std::move(response));
}

void LongPoll::answer(std::span<const Chunk> chunks, Offset next, bool at_tail, bool closed) {
  const std::uint64_t interval = cursor_interval(context_.clock.now(), start_.client_interval);
  if (chunks.empty() && (closed || at_tail)) {
    Response response{204};
    response.set("Stream-Next-Offset", offset_token(next));
    response.set("Stream-Up-To-Date", "true");
    response.set("Stream-Cursor", std::to_string(interval));
    if (closed) response.set("Stream-Closed", "true");
    response.set("Cache-Control", "no-store");
    return respond(std::move(response));
  }
  respond(answer_read({.content_type = start_.opened->content_type,
                       .id = start_.opened->id,
                       .chunks = chunks,
                       .from = start_.cursor,
                       .next = next,
                       .at_tail = at_tail,
                       .closed = closed,
                       .interval = interval,
                       .shared_cache = context_.options.token.empty()},
                      std::nullopt));
}

void LongPoll::time_over() { answer({}, cursor, true, false); }

void LongPoll::deliver(const Delivery& delivery) {
  std::span<const Chunk> rest{delivery.chunks.items};
  while (!rest.empty() && rest.front().offset < cursor) rest = rest.subspan(1);
  if (rest.empty() && !delivery.closed) return;
  answer(rest, delivery.next, delivery.at_tail, delivery.closed);
}

void LongPoll::fell_behind() {
  const ReadOptions options{
      .from = cursor, .limits = {.bytes_max = context_.options.read_bytes_max}, .folded = false};
  rt::Loop& loop = context_.loop;
  context_.workers.submit_urgent([self = self_, opened = start_.opened, options, &loop] {
    auto chunks = std::make_shared<Result<Chunks>>(opened->stream.read(options));
    loop.post([self, chunks] {
      LongPoll* const poll = *self;
      if (poll == nullptr) return;
      if (!*chunks) return poll->lost(chunks->error());
      const Chunks& read = **chunks;
      if (!read.items.empty() || read.closed) {
        return poll->answer(read.items, read.next, read.at_tail, read.closed);
      }
      poll->channel_ = poll->hub_.channel(poll->start_.name, poll->start_.opened);
      poll->channel_->join(*poll);
    });
  });
}

void LongPoll::lost(const Error& error) { respond(error_response(error)); }

}  // namespace holdfast::http
