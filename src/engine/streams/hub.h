// Fan-out: all followers of one stream in this process share one watch and one read per append.
//
//   stream  ───────────[ ring: the newest blocks )│ end          one watch, one reader at a time
//                 ▲                    ▲          ▲
//            far behind:           in the ring:   waiting: no block held, no thread, no timer
//            reads by range        takes a block
//            for itself
//
// Whoever comes first after a wake-up reads from the ring's end and publishes the block; the others
// take it. Invariants
//   - A subscriber holds at most one block, of at most its limits' (or one chunk's) size, and never
//     makes another wait: the reader is whoever asks, not whoever is first in a line.
//   - The ring holds at most kRingBytesMax, and nothing while all its subscribers wait.
//   - A wake-up between a read and the wait that follows it is not lost: changes are counted, and
//     the count is taken before each read.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>

#include <holdfast/stream.h>

namespace holdfast::engine {

class Channel;
class StreamHandle;
class StreamsCore;

inline constexpr std::size_t kRingBytesMax = 512u << 10;

/// One follower's place in a stream. One thread at a time, but for stop().
class Subscription {
 public:
  enum class State : std::uint8_t {
    kBlock,    ///< `block` holds chunks from `begin` on; the cursor has moved behind them
    kWait,     ///< nothing now: arm() and wait
    kEnd,      ///< the stream was closed and everything was taken
    kStopped,  ///< stop() was called
    kError,    ///< `error` says why nothing more will come
  };
  struct Take {
    State state{};
    std::shared_ptr<const Chunks> block{};
    std::size_t begin = 0;
    std::optional<Error> error{};
    /// With kBlock: nothing lay beyond it when it was read.
    bool at_tail = false;
  };

  Subscription(std::shared_ptr<StreamsCore> core, std::shared_ptr<StreamHandle> handle,
               std::shared_ptr<Channel> channel, Offset cursor, bool from_beginning,
               const ReadLimits& limits);
  Subscription(const Subscription&) = delete;
  Subscription& operator=(const Subscription&) = delete;
  /// Once it has returned, a callback given to arm() neither runs nor will. Not inside one.
  ~Subscription();

  /// The next block; makes at most one read of the store, and none if another subscriber has.
  Take take();
  /// Calls `ready` once, when take() may give something other than kWait; at once, on this thread,
  /// if that is so already. Otherwise on a store's or another subscriber's thread: it must only
  /// post. A second call replaces the first.
  void arm(std::function<void()> ready);
  /// Takes back what arm() was given. Afterwards it neither runs nor will.
  void disarm();
  /// From any thread: take() gives kStopped from now on; what was armed is called.
  void stop();

  /// Where the next chunk begins.
  [[nodiscard]] Offset cursor() const { return cursor_; }

 private:
  friend class Channel;
  Take read_own();

  std::shared_ptr<StreamsCore> core_;
  std::shared_ptr<StreamHandle> handle_;
  std::shared_ptr<Channel> channel_;
  Offset cursor_;
  bool from_beginning_;  // the cursor is "the first chunk kept", whatever that is by now
  ReadLimits limits_;
  std::atomic<bool> stopped_{false};
  // Guarded by the channel.
  std::function<void()> ready_;
  bool waiting_ = false;
};

/// Subscribes to a stream. Notes a use of it (ttl). Errors: `kNotFound`, `kGone` if it was deleted.
[[nodiscard]] Result<std::unique_ptr<Subscription>> subscribe(const Stream& stream,
                                                              const From& from,
                                                              const ReadLimits& limits = {});

}  // namespace holdfast::engine
