// Followers for programs on Boost.Asio: `co_await holdfast::async_next(follower)`.
//
// Optional and header-only; it needs Boost 1.81 or newer. The follower belongs to the coroutine's
// executor: use it from there alone. Cancelling the coroutine (a parallel group, a cancellation
// slot) ends the wait at once and leaves the follower usable.
//
//   boost::asio::awaitable<void> show(holdfast::Follower follower) {
//     while (auto chunk = co_await holdfast::async_next(follower)) print(chunk->bytes);
//   }
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>

#include <holdfast/stream.h>

namespace holdfast {

/// The next chunk, as Follower::next() gives it, without holding up the thread. The chunk's bytes
/// live until the next call on the follower. Nothing when the follower is at its end, or the wait
/// was cancelled (`Follower::ended` tells them apart).
inline boost::asio::awaitable<std::optional<Chunk>> async_next(Follower& follower) {
  // Named values, not temporaries: g++ 12 destroys those twice within a co_await.
  const auto executor = co_await boost::asio::this_coro::executor;
  for (;;) {
    std::optional<Chunk> chunk = follower.try_next();
    if (chunk || follower.ended()) co_return chunk;
    // A timer that never fires is what the wake-up cancels: it can be waited for, and the wait can
    // itself be cancelled. The flag holds a wake-up that comes before the wait.
    struct Bell {
      explicit Bell(const boost::asio::any_io_executor& on)
          : timer{on, boost::asio::steady_timer::time_point::max()} {}
      boost::asio::steady_timer timer;
      bool rung = false;
    };
    const auto bell = std::make_shared<Bell>(executor);
    follower.async_wait([bell, executor] {
      boost::asio::post(executor, [bell] {
        bell->rung = true;
        bell->timer.cancel();
      });
    });
    boost::system::error_code ended;
    if (!bell->rung) {
      auto token = boost::asio::redirect_error(boost::asio::use_awaitable, ended);
      co_await bell->timer.async_wait(token);
    }
    if (!bell->rung) co_return std::nullopt;  // cancelled from outside
  }
}

}  // namespace holdfast
