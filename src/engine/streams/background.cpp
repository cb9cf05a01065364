#include "engine/streams/background.h"

#include <utility>

namespace holdfast::engine {

Background::Background() : shared_{std::make_shared<Shared>()} {}

Background::~Background() {
  {
    const std::lock_guard lock{shared_->mutex};
    shared_->stopping = true;
  }
  shared_->changed.notify_all();
  if (!thread_.joinable()) return;
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

void Background::post(std::function<void()> task) {
  {
    const std::lock_guard lock{shared_->mutex};
    shared_->tasks.push_back(std::move(task));
    if (!thread_.joinable()) thread_ = std::thread{[shared = shared_] { run(shared); }};
  }
  shared_->changed.notify_all();
}

void Background::settle() {
  std::unique_lock lock{shared_->mutex};
  shared_->changed.wait(lock, [&] { return shared_->tasks.empty() && !shared_->running; });
}

void Background::run(const std::shared_ptr<Shared>& shared) {
  std::unique_lock lock{shared->mutex};
  for (;;) {
    shared->changed.wait(lock, [&] { return !shared->tasks.empty() || shared->stopping; });
    if (shared->tasks.empty()) return;
    auto task = std::move(shared->tasks.front());
    shared->tasks.pop_front();
    shared->running = true;
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
    shared->running = false;
    shared->changed.notify_all();
  }
}

}  // namespace holdfast::engine
