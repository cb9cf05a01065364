// A follower: one subscription, consumed chunk by chunk.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include <holdfast/stream.h>

#include "engine/streams/hub.h"

namespace holdfast::engine {

class FollowerCore {
 public:
  explicit FollowerCore(std::unique_ptr<Subscription> subscription);
  FollowerCore(const FollowerCore&) = delete;
  FollowerCore& operator=(const FollowerCore&) = delete;
  ~FollowerCore();

  using Clock = std::chrono::steady_clock;
  /// Waits until `deadline`, for ever without one.
  std::optional<Chunk> next(std::optional<Clock::time_point> deadline);
  std::optional<Chunk> try_next();
  void async_wait(std::function<void()> ready);
  void stop();
  [[nodiscard]] bool ended() const;
  [[nodiscard]] bool closed() const { return end_ == Subscription::State::kEnd; }
  [[nodiscard]] const Error* error() const { return error_ ? &*error_ : nullptr; }
  [[nodiscard]] Offset cursor() const;

 private:
  [[nodiscard]] bool holds_more() const { return block_ && at_ < block_->items.size(); }

  std::unique_ptr<Subscription> subscription_;
  std::shared_ptr<const Chunks> block_;
  std::size_t at_ = 0;
  std::optional<Subscription::State> end_;  // once nothing more will come
  std::optional<Error> error_;
  std::atomic<bool> stopped_{false};

  std::mutex mutex_;
  std::condition_variable woken_;
  bool wake_ = false;  // guarded by mutex_
};

}  // namespace holdfast::engine
