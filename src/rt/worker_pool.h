// Threads for work that blocks: the disk, a lock, a long computation.
//
// Invariants
//   - At most `queue_max` submitted tasks wait; beyond that submit() refuses, so that a slow disk
//   turns
//     into refusals and not into memory.
//   - Tasks begin in the order submitted, urgent ones first.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "rt/loop.h"

namespace holdfast::rt {

struct WorkerPoolOptions {
  std::size_t threads = 4;
  std::size_t queue_max = 1'024;
};

/// Thread-safe. The destructor drops tasks that have not begun and waits for those that have.
class WorkerPool {
 public:
  explicit WorkerPool(const WorkerPoolOptions& options);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Runs `task` on some thread; false if the queue is full or stop() was called, and then `task`
  /// does not run.
  [[nodiscard]] bool submit(Task task);
  /// The same ahead of the queue and past its bound, for callers that bound themselves (one task at
  /// a time each). Dropped after stop().
  void submit_urgent(Task task);
  /// Drops what has not begun and waits for what has.
  void stop();
  /// Tasks waiting now.
  [[nodiscard]] std::size_t queued() const;

 private:
  void work();

  const std::size_t queue_max_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> urgent_;  // guarded by mutex_
  std::deque<Task> queue_;   // guarded by mutex_
  bool stopping_ = false;    // guarded by mutex_
  std::vector<std::thread> threads_;
};

}  // namespace holdfast::rt
