// One quiet thread for what must not hold up a caller: trims, retries of asynchronous appends. It
// starts with the first task and sleeps between them.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace holdfast::engine {

/// Runs tasks in the order given. Thread-safe.
class Background {
 public:
  Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  /// Runs what was posted, then ends the thread. May happen on that thread itself.
  ~Background();

  void post(std::function<void()> task);
  /// Returns when everything posted so far has run. Not to be called by a task.
  void settle();

 private:
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::function<void()>> tasks;
    bool running = false;
    bool stopping = false;
  };
  static void run(const std::shared_ptr<Shared>& shared);

  std::shared_ptr<Shared> shared_;  // the thread outlives this when it destroys it itself
  std::thread thread_;              // guarded by shared_->mutex until the destructor
};

}  // namespace holdfast::engine
