// The shared part of a stream's followers in one process: the ring, the watch, who waits. See
// hub.h.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_set>

#include <holdfast/store.h>
#include <holdfast/stream.h>

#include "engine/streams/hub.h"

namespace holdfast::engine {

class Channel {
 public:
  /// Made with its watch set, so that nothing after this is missed.
  static Result<std::shared_ptr<Channel>> make(StreamsCore& core, StreamHandle& handle);
  Channel() : state_{std::make_shared<State>()} {}
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel();

  void join(Subscription& subscriber);
  void leave(Subscription& subscriber);
  void arm(Subscription& subscriber, std::function<void()> ready);
  void disarm(Subscription& subscriber);
  void wake(Subscription& subscriber);
  /// What take() does, but for reads of the subscriber's own: those are wanted if it gives nothing.
  std::optional<Subscription::Take> take(StreamsCore& core,
                                         const std::shared_ptr<StreamHandle>& handle,
                                         Subscription& subscriber);
  /// For a reader of its own: the count to hand in with what it read.
  [[nodiscard]] std::uint64_t changes() const;
  /// A subscriber's own read has come to the tail: if nobody had yet, the ring begins there.
  void reached(Offset tail, bool closed, std::uint64_t seen);

 private:
  struct State {
    mutable std::mutex mutex;
    // What lies in the ring: chunks [ring.front()->from, *end).
    std::deque<std::shared_ptr<const Chunks>> ring;
    std::size_t ring_bytes = 0;
    std::optional<Offset> end;       // none until somebody has come to the tail
    bool closed = false;             // at `end` the stream ends
    bool reading = false;            // somebody reads from `end`
    std::uint64_t changes = 1;       // wake-ups so far
    std::uint64_t changes_seen = 0;  // as of the read that gave `end`
    std::unordered_set<Subscription*> waiting;
    std::size_t subscribers = 0;

    // Held while callbacks run, so that taking one back can wait for it.
    std::mutex firing;
    std::atomic<std::thread::id> firing_thread{};
  };

  // Calls what all who wait have armed, or what `only` has.
  static void fire(State& state, Subscription* only = nullptr);
  static bool available(const State& state, const Subscription& subscriber);
  void publish(Chunks&& chunks, std::uint64_t seen);

  std::shared_ptr<State> state_;  // shared with the watch's callback while it runs
  StreamsCore* core_ = nullptr;
  Watch watch_;
};

}  // namespace holdfast::engine
