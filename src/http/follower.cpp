#include "http/follower.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "http/hub.h"
#include "http/offset_token.h"

namespace holdfast::http {

using Kind = rt::IoResult::Kind;

namespace {

constexpr ReadLimits kCatchUpLimits{.records_max = 8'192, .bytes_max = 128u << 10};
constexpr std::uint32_t kIgnoredBytesMax = 64u << 10;
constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace

Result<FollowStart> read_batch(const OpenedPtr& opened, const ReadOptions& options, Form form,
                               bool tells_caught_up, std::uint64_t interval) {
  auto chunks = opened->stream.read(options);
  if (!chunks) return fail(std::move(chunks.error()));
  FollowStart batch;
  batch.opened = opened;
  batch.form = form;
  batch.cursor = chunks->next;
  batch.at_tail = chunks->at_tail;
  batch.closed = chunks->closed;
  batch.first = encode_batch(form, opened->content_type,
                             {.chunks = chunks->items,
                              .next = chunks->next,
                              .at_tail = chunks->at_tail,
                              .closed = chunks->closed,
                              .tells_caught_up = tells_caught_up,
                              .interval = interval});
  return batch;
}

Follower::Follower(Context& context, Hub& hub, HandedOver given, FollowStart start)
    : Member{start.form},
      context_{context},
      hub_{hub},
      socket_{std::move(given.socket)},
      opened_{std::move(start.opened)},
      client_interval_{start.client_interval},
      name_{std::move(start.name)},
      remote_{std::move(given.remote)},
      path_{std::move(given.path)},
      time_{given.time},
      began_{given.began},
      folded_{start.folded},
      http_1_0_{given.http_1_0},
      at_tail_{start.at_tail},
      closed_{start.closed},
      told_caught_up_{start.at_tail} {
  cursor = start.cursor;
  sending_ = std::move(start.first);
  if (!context_.log.enabled()) std::string{}.swap(path_);
  ++context_.metrics.followers;
}

Follower::~Follower() {
  if (socket_) --context_.metrics.connections;
  --context_.metrics.followers;
}

void Follower::start(std::string head) {
  socket_.set_events(this);
  FramePtr first = std::move(sending_);
  send(raw_frame(std::move(head)));
  if (first && phase_ != Phase::kClosed) send(std::move(first));
  if (phase_ == Phase::kClosed) return;
  socket_.wait_readable();
  if (!sending_) advance();
}

// Hands a frame to the socket, or to the queue behind what the socket has not taken yet.
void Follower::send(FramePtr frame) {
  if (sending_) {
    queued_bytes_ += frame->bytes.size();
    if (!queue_) queue_ = std::make_unique<std::deque<FramePtr>>();
    queue_->push_back(std::move(frame));
    return;
  }
  sending_ = std::move(frame);
  written_ = 0;
  if (write_frame() && phase_ != Phase::kClosed) return;
  if (phase_ != Phase::kClosed) socket_.wait_writable();
}

// True when the frame is out; false when the socket is full or the connection broke.
bool Follower::write_frame() {
  while (sending_) {
    const std::string_view bytes = bytes_of(*sending_).substr(written_);
    if (!bytes.empty()) {
      const std::array<std::string_view, 1> pieces{bytes};
      const rt::IoResult got = socket_.write(pieces);
      if (got.kind == Kind::kWouldBlock) return false;
      if (got.kind != Kind::kDone) {
        close();
        return false;
      }
      silent_sweeps_ = 0;
      sent_bytes_ += got.bytes;
      written_ += got.bytes;
      if (got.bytes < bytes.size()) continue;
    }
    sending_.reset();
    written_ = 0;
    if (queue_) {
      sending_ = std::move(queue_->front());
      queued_bytes_ -= sending_->bytes.size();
      queue_->pop_front();
      if (queue_->empty()) queue_.reset();
    }
  }
  return true;
}

void Follower::writable() {
  if (phase_ == Phase::kClosed || phase_ == Phase::kLingering) return;
  const auto self = shared_from_this();
  if (write_frame()) {
    drained();
  } else if (phase_ != Phase::kClosed) {
    socket_.wait_writable();
  }
}

void Follower::drained() {
  if (phase_ == Phase::kEnding) return linger();
  if (std::exchange(list_missed_, false)) send(hub_.list_frame());
  advance();
}

// Everything is out: what comes next?
void Follower::advance() {
  if (phase_ == Phase::kEnding) return linger();
  if (phase_ != Phase::kCatchingUp || reading_) return;
  if (closed_) return finish();
  if (form() == Form::kList) {
    phase_ = Phase::kLive;
    return hub_.join_list(*this);
  }
  if (!at_tail_) return read_more();
  phase_ = Phase::kLive;
  if (!channel_ || channel_->dead()) channel_ = hub_.channel(name_, opened_);
  channel_->join(*this);
}

void Follower::read_more() {
  reading_ = true;
  const std::uint64_t interval = cursor_interval(context_.clock.now(), client_interval_);
  const ReadOptions options{.from = cursor, .limits = kCatchUpLimits, .folded = folded_};
  const bool submitted = context_.workers.submit(
      [self = shared_from_this(), options, interval, tell = !told_caught_up_]() mutable {
        auto batch = read_batch(self->opened_, options, self->form(), tell, interval);
        rt::Loop& loop = self->context_.loop;
        loop.post([self = std::move(self), batch = std::move(batch)]() mutable {
          self->received(std::move(batch));
        });
      });
  if (submitted) return;
  // The workers are busy: the client comes back later, from its cursor.
  reading_ = false;
  lost(Error{ErrorCode::kUnavailable, "the server is busy; reconnect from the last cursor"});
}

void Follower::received(Result<FollowStart> batch) {
  reading_ = false;
  if (phase_ != Phase::kCatchingUp) return;
  if (!batch) return lost(batch.error());
  cursor = batch->cursor;
  at_tail_ = batch->at_tail;
  closed_ = batch->closed;
  told_caught_up_ = told_caught_up_ || at_tail_;
  if (batch->first) send(std::move(batch->first));
  if (phase_ == Phase::kCatchingUp && !sending_) advance();
}

void Follower::deliver(const Delivery& delivery) {
  if (phase_ != Phase::kLive) return;
  const bool whole = cursor == delivery.from;
  FramePtr frame = form() == Form::kProtocol ? delivery.protocol : delivery.events;
  const bool own_interval = form() == Form::kProtocol && client_interval_ >= delivery.interval;
  if (!whole || own_interval || !frame) {
    std::span<const Chunk> rest{delivery.chunks.items};
    while (!rest.empty() && rest.front().offset < cursor) rest = rest.subspan(1);
    frame = encode_batch(form(), opened_->content_type,
                         {.chunks = rest,
                          .next = delivery.next,
                          .at_tail = delivery.at_tail,
                          .closed = delivery.closed,
                          .interval = std::max(delivery.interval, client_interval_ + 1)});
  }
  if (!frame) return;
  if (sending_ && queued_bytes_ + frame->bytes.size() > context_.options.follower_queue_bytes_max) {
    ++context_.metrics.followers_fell_behind;
    leave();
    return fell_behind();
  }
  cursor = delivery.next;
  const bool closed = delivery.closed;
  send(std::move(frame));
  if (closed && phase_ == Phase::kLive) finish();
}

void Follower::fell_behind() {
  if (phase_ != Phase::kLive) return;
  phase_ = Phase::kCatchingUp;
  at_tail_ = false;
  folded_ = false;
  if (!sending_) advance();
}

void Follower::lost(const Error& error) {
  if (phase_ != Phase::kLive && phase_ != Phase::kCatchingUp) return;
  FrameBuilder frame;
  frame.event("error");
  frame.data(error_json(error));
  frame.end_event();
  send(frame.finish());
  finish();
}

void Follower::stop() {
  if (phase_ != Phase::kLive && phase_ != Phase::kCatchingUp) return;
  FrameBuilder frame;
  if (form() == Form::kList) {
    frame.event("goodbye");
    frame.data("{}");
    frame.end_event();
  } else {
    add_marker(frame, "goodbye", cursor);
  }
  send(frame.finish());
  finish();
}

void Follower::finish() {
  if (phase_ == Phase::kClosed) return;
  leave();
  channel_.reset();
  phase_ = Phase::kEnding;
  if (!http_1_0_) send(raw_frame(std::string{kLastChunk}));
  if (phase_ == Phase::kEnding && !sending_) linger();
}

void Follower::linger() {
  phase_ = Phase::kLingering;
  socket_.shutdown_write();
  context_.linger.add(*this);
  socket_.wait_readable();
}

void Follower::list_changed(const FramePtr& frame) {
  if (phase_ != Phase::kLive) return;
  if (sending_) {
    list_missed_ = true;
  } else {
    send(frame);
  }
}

void Follower::heartbeat(const FramePtr& comment) {
  if (phase_ == Phase::kLingering || phase_ == Phase::kClosed) return;
  if (!sending_) return send(comment);
  const auto allowed = context_.options.write_timeout / context_.options.heartbeat;
  if (++silent_sweeps_ <= allowed + 1) return;
  ++context_.metrics.followers_dropped;
  close();
}

void Follower::readable() {
  for (int rounds = 0; rounds < 4; ++rounds) {
    const rt::IoResult got = socket_.read(context_.scratch.data(), context_.scratch.size());
    if (got.kind == Kind::kWouldBlock) break;
    if (got.kind != Kind::kDone) return close();
    // Nothing is expected from the client any more; a little is read to find its end behind it.
    ignored_bytes_ += static_cast<std::uint32_t>(got.bytes);
    if (phase_ != Phase::kLingering && ignored_bytes_ > kIgnoredBytesMax) return close();
  }
  socket_.wait_readable();
}

void Follower::close() {
  if (phase_ == Phase::kClosed) return;
  const auto self = shared_from_this();
  phase_ = Phase::kClosed;
  leave();
  channel_.reset();
  rt::Deadlines::remove(*this);
  socket_.close();
  --context_.metrics.connections;
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(rt::Loop::now() - began_);
  context_.metrics.count(form() == Form::kList ? "streams" : "stream", "GET", 200, -1);
  context_.log.add({.time = context_.clock.now(),
                    .method = "GET",
                    .path = path_,
                    .status = 200,
                    .bytes = sent_bytes_,
                    .duration_us = took.count(),
                    .remote = remote_});
  sending_.reset();
  queue_.reset();
  hub_.forget(*this);
}

}  // namespace holdfast::http
