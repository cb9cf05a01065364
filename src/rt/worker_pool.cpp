#include "rt/worker_pool.h"

#include <utility>

#include <holdfast/check.h>

namespace holdfast::rt {

WorkerPool::WorkerPool(const WorkerPoolOptions& options) : queue_max_{options.queue_max} {
  HOLDFAST_CHECK(options.threads > 0, "a pool of no threads would never run anything");
  threads_.reserve(options.threads);
  for (std::size_t i = 0; i < options.threads; ++i) threads_.emplace_back([this] { work(); });
}

WorkerPool::~WorkerPool() { stop(); }

bool WorkerPool::submit(Task task) {
  {
    const std::lock_guard lock{mutex_};
    if (stopping_ || queue_.size() >= queue_max_) return false;
    queue_.push_back(std::move(task));
  }
  changed_.notify_one();
  return true;
}

void WorkerPool::submit_urgent(Task task) {
  {
    const std::lock_guard lock{mutex_};
    if (stopping_) return;
    urgent_.push_back(std::move(task));
  }
  changed_.notify_one();
}

void WorkerPool::stop() {
  std::deque<Task> dropped_urgent;
  std::deque<Task> dropped;
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
    dropped_urgent.swap(urgent_);
    dropped.swap(queue_);
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

std::size_t WorkerPool::queued() const {
  const std::lock_guard lock{mutex_};
  return queue_.size() + urgent_.size();
}

void WorkerPool::work() {
  for (;;) {
    Task task;
    {
      std::unique_lock lock{mutex_};
      changed_.wait(lock, [this] { return stopping_ || !urgent_.empty() || !queue_.empty(); });
      if (stopping_) return;
      std::deque<Task>& from = urgent_.empty() ? queue_ : urgent_;
      task = std::move(from.front());
      from.pop_front();
    }
    task();
  }
}

}  // namespace holdfast::rt
