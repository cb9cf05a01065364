#include "store/memory/watch_hub.h"

#include <algorithm>
#include <utility>

#include <holdfast/check.h>

namespace holdfast::store {

class WatchHub::Entry final : public Watch::Registration {
 public:
  Entry(WatchHub& hub, WatchCallback changed) : hub_{hub}, changed_{std::move(changed)} {}
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
  ~Entry() override { hub_.remove(*this); }

  void call() const { changed_(); }

  bool pending = false;  // guarded by the hub's mutex

 private:
  WatchHub& hub_;
  WatchCallback changed_;
};

WatchHub::~WatchHub() {
  {
    const std::lock_guard lock{mutex_};
    HOLDFAST_CHECK(entries_.empty(), "a watch outlived its store");
    stopping_ = true;
  }
  work_.notify_one();
  if (thread_.joinable()) thread_.join();
}

Watch WatchHub::watch(std::string topic, WatchCallback changed) {
  auto entry = std::make_unique<Entry>(*this, std::move(changed));
  const std::lock_guard lock{mutex_};
  entries_.emplace(std::move(topic), entry.get());
  if (!thread_.joinable()) thread_ = std::thread{[this] { run(); }};
  return Watch{std::move(entry)};
}

void WatchHub::announce(const std::vector<std::string>& topics) {
  {
    const std::lock_guard lock{mutex_};
    if (entries_.empty()) return;
    for (const std::string& topic : topics) {
      const auto [begin, end] = entries_.equal_range(topic);
      for (auto at = begin; at != end; ++at) {
        if (std::exchange(at->second->pending, true)) continue;
        pending_.push_back(at->second);
      }
    }
    if (pending_.empty()) return;
  }
  work_.notify_one();
}

void WatchHub::remove(Entry& entry) {
  std::unique_lock lock{mutex_};
  std::erase(pending_, &entry);
  std::erase_if(entries_, [&](const auto& item) { return item.second == &entry; });
  HOLDFAST_CHECK(running_ != &entry || std::this_thread::get_id() != thread_.get_id(),
                 "a watch was destroyed inside its own callback");
  ended_.wait(lock, [&] { return running_ != &entry; });
}

void WatchHub::run() {
  std::unique_lock lock{mutex_};
  while (!stopping_) {
    if (pending_.empty()) {
      work_.wait(lock);
      ++wakeups_;
      continue;
    }
    running_ = pending_.front();
    pending_.erase(pending_.begin());
    running_->pending = false;  // before the call: a change during it asks for another
    ++wakes_;
    lock.unlock();
    running_->call();
    lock.lock();
    running_ = nullptr;
    ended_.notify_all();
  }
}

std::uint64_t WatchHub::wakes() const {
  const std::lock_guard lock{mutex_};
  return wakes_;
}

std::uint64_t WatchHub::wakeups() const {
  const std::lock_guard lock{mutex_};
  return wakeups_;
}

}  // namespace holdfast::store
