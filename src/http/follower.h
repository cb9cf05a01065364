// One event stream: a socket, a cursor, and what the socket would not take yet.
//
//   catching up: reads by range on a worker, one batch at a time, the next when the last is out
//   live:        a member of its stream's channel; gets shared frames
//   ending:      what is queued, then the end of the answer, then the connection
//
// Invariants
//   - Idle, it holds no read buffer, no coroutine and no timer.
//   - What waits unsent is bounded: beyond `follower_queue_bytes_max` it leaves the channel and,
//   when
//     the socket has taken what waits, reads by range from its cursor. So a slow one costs bounded
//     memory and delays nobody.
//   - `cursor` is after the last chunk that was handed to the socket or its queue.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "http/channel.h"
#include "http/connection.h"
#include "http/context.h"
#include "rt/loop.h"

namespace holdfast::http {

class Hub;

/// How a follower begins.
struct FollowStart {
  OpenedPtr opened{};  ///< null when it follows the list of streams
  std::string name{};
  Form form = Form::kEvents;
  bool folded = false;  ///< the catch-up part merges deltas
  std::uint64_t client_interval = 0;
  /// The first batch, read before the answer began, so that errors could be told by status.
  Offset cursor{};
  FramePtr first{};
  bool at_tail = false;
  bool closed = false;
};

class Follower final : public rt::SocketEvents,
                       public rt::Due,
                       public Member,
                       public std::enable_shared_from_this<Follower> {
 public:
  Follower(Context& context, Hub& hub, HandedOver given, FollowStart start);
  ~Follower() override;

  /// Sends the answer's head and the first batch, and goes on from there.
  void start(std::string head);
  /// A comment that keeps the connection known to be open. Drops a peer that takes nothing.
  void heartbeat(const FramePtr& comment);
  /// The server is stopping: goodbye, then the end.
  void stop();
  void close();
  /// For the list of streams: it changed.
  void list_changed(const FramePtr& frame);

  void readable() override;
  void writable() override;
  void due() override { close(); }

  void deliver(const Delivery& delivery) override;
  void fell_behind() override;
  void lost(const Error& error) override;

  std::size_t hub_index = 0;  ///< the hub's own

 private:
  enum class Phase : std::uint8_t { kCatchingUp, kLive, kEnding, kLingering, kClosed };

  void send(FramePtr frame);
  bool write_frame();
  void drained();
  void advance();
  void read_more();
  void received(Result<FollowStart> batch);
  void finish();
  void linger();
  [[nodiscard]] std::string_view bytes_of(const Frame& frame) const {
    return http_1_0_ ? frame.plain() : frame.chunked();
  }

  Context& context_;
  Hub& hub_;
  rt::Socket socket_;
  OpenedPtr opened_;
  std::shared_ptr<Channel> channel_;
  FramePtr sending_;         // partly written
  std::size_t written_ = 0;  // of sending_
  std::unique_ptr<std::deque<FramePtr>> queue_;
  std::size_t queued_bytes_ = 0;
  std::uint64_t client_interval_;
  std::uint64_t sent_bytes_ = 0;
  std::string name_;
  std::string remote_;
  std::string path_;
  Timestamp time_;
  rt::SteadyTime began_;
  std::uint32_t ignored_bytes_ = 0;
  std::uint8_t silent_sweeps_ = 0;  // sweeps since the peer took a byte, while some wait
  Phase phase_ = Phase::kCatchingUp;
  bool folded_;
  bool http_1_0_;
  bool at_tail_;
  bool closed_;
  bool told_caught_up_;
  bool reading_ = false;
  bool list_missed_ = false;
};

/// Reads the next batch of a stream from `from` on and encodes it. On a worker.
[[nodiscard]] Result<FollowStart> read_batch(const OpenedPtr& opened, const ReadOptions& options,
                                             Form form, bool tells_caught_up,
                                             std::uint64_t interval);

}  // namespace holdfast::http
