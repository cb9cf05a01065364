// Being told to stop: SIGINT, SIGTERM, or the reader of the output going away.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

#include <holdfast/result.h>

namespace holdfast::cli {

/// While it lives, SIGINT and SIGTERM do not end the program but are handed to one callback; a
/// second signal ends the program at once, with the status of a cancelled command. Make it before
/// any other thread, so that none of them takes the signals. Costs nothing until something happens.
class Interrupt {
 public:
  enum class Cause : int { kNone, kSignal, kReaderGone };

  /// Watches `output_fd`, too, if it is not negative: a pipe whose reader has gone.
  explicit Interrupt(int output_fd = -1);
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  ~Interrupt();

  /// Calls `stop` once, on this object's thread, when told to stop; at once if that was so already.
  /// An empty function ends the registration; after that returned, the callback does not run.
  void on_stop(std::function<void()> stop);
  /// Can be read from once told to stop: for those that wait in poll().
  [[nodiscard]] int fd() const { return told_; }
  [[nodiscard]] bool requested() const { return cause_.load() != Cause::kNone; }
  [[nodiscard]] Cause cause() const { return cause_.load(); }

 private:
  void watch(int output_fd);
  void tell(Cause cause);

  int signals_ = -1;  // signalfd
  int told_ = -1;     // eventfd: fd()
  int leave_ = -1;    // eventfd: the destructor's word to the thread
  std::atomic<Cause> cause_{Cause::kNone};
  std::mutex mutex_;
  std::function<void()> stop_;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace holdfast::cli
