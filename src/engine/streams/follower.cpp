#include "engine/streams/follower.h"

#include <utility>

namespace holdfast::engine {

FollowerCore::FollowerCore(std::unique_ptr<Subscription> subscription)
    : subscription_{std::move(subscription)} {}

FollowerCore::~FollowerCore() {
  // First of all: what it armed points here.
  subscription_.reset();
}

bool FollowerCore::ended() const { return stopped_ || (end_ && !holds_more()); }

Offset FollowerCore::cursor() const {
  return holds_more() ? block_->items[at_].offset : subscription_->cursor();
}

std::optional<Chunk> FollowerCore::try_next() {
  for (;;) {
    if (stopped_) return std::nullopt;
    if (holds_more()) return block_->items[at_++];
    if (end_) return std::nullopt;
    auto take = subscription_->take();
    // The last chunk's bytes live until now, so its block goes only with the next one.
    switch (take.state) {
      case Subscription::State::kBlock:
        block_ = std::move(take.block);
        at_ = take.begin;
        continue;
      case Subscription::State::kWait: block_.reset(); return std::nullopt;
      case Subscription::State::kEnd:
      case Subscription::State::kStopped: end_ = take.state; break;
      case Subscription::State::kError:
        end_ = take.state;
        error_ = std::move(take.error);
        break;
    }
    block_.reset();
    return std::nullopt;
  }
}

std::optional<Chunk> FollowerCore::next(std::optional<Clock::time_point> deadline) {
  for (;;) {
    if (auto chunk = try_next()) return chunk;
    if (ended()) return std::nullopt;
    {
      const std::lock_guard lock{mutex_};
      wake_ = false;
    }
    subscription_->arm([this] {
      const std::lock_guard lock{mutex_};
      wake_ = true;
      woken_.notify_one();
    });
    std::unique_lock lock{mutex_};
    const auto awake = [&] { return wake_; };
    if (!deadline) {
      woken_.wait(lock, awake);
    } else if (!woken_.wait_until(lock, *deadline, awake)) {
      lock.unlock();
      subscription_->disarm();
      return try_next();
    }
  }
}

void FollowerCore::async_wait(std::function<void()> ready) {
  if (holds_more() || ended()) return ready();
  subscription_->arm(std::move(ready));
}

void FollowerCore::stop() {
  stopped_ = true;
  subscription_->stop();
}

}  // namespace holdfast::engine
