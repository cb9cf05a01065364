#include "store/sqlite/bell_watcher.h"

#include <bit>
#include <utility>

#include <holdfast/check.h>

namespace holdfast::store {

/// One watch. It is listed under its counter and, while it waits to be called, among the due ones.
struct BellWatcher::Node final : Watch::Registration {
  Node(BellWatcher& watcher, std::size_t counter, WatchCallback changed)
      : watcher_{watcher}, counter_{counter}, changed_{std::move(changed)} {
    watcher_.add(*this);
  }
  ~Node() override { watcher_.remove(*this); }

  static constexpr std::size_t kNotDue = ~std::size_t{0};

  BellWatcher& watcher_;
  const std::size_t counter_;
  const WatchCallback changed_;
  std::size_t index_ = 0;  ///< among the counter's nodes
  std::size_t due_index_ = kNotDue;
};

BellWatcher::BellWatcher(Bell& bell, BellWatcherOptions options)
    : bell_{bell},
      options_{std::move(options)},
      one_word_{options_.one_word},
      guard_{bell, WriterGuard::Hooks{.on_death = [this] { call_all(); },
                                      .changed_elsewhere = options_.changed_elsewhere,
                                      .check_interval = options_.check_interval,
                                      .without_pidfds = options_.without_pidfds}} {}

BellWatcher::~BellWatcher() {
  {
    const std::lock_guard guard{mutex_};
    HOLDFAST_CHECK(watches_ == 0, "a store was closed while it is watched");
    stopping_ = true;
  }
  if (!thread_.joinable()) return;
  nudge();
  thread_.join();
  if (one_word_) bell_.layout().everything_watchers.fetch_sub(1);
}

Result<Watch> BellWatcher::watch(BellSlot slot, WatchCallback changed) {
  {
    const std::lock_guard guard{mutex_};
    if (auto ready = start(); !ready) return fail(std::move(ready.error()));
  }
  return Watch{std::make_unique<Node>(*this, static_cast<std::size_t>(slot), std::move(changed))};
}

Result<void> BellWatcher::start() {
  if (started_) return {};
  if (!one_word_ && !futex_wait_any_supported()) one_word_ = true;
  generation_seen_ = bell_.layout().generation.load();  // before the guard's first scan
  if (!guard_.started()) {
    if (auto guarded = guard_.start(); !guarded) return guarded;
  }
  if (one_word_) bell_.layout().everything_watchers.fetch_add(1);
  auto thread = start_quiet_thread("holdfast-bell", [this] { run(); });
  if (!thread) {
    if (one_word_) bell_.layout().everything_watchers.fetch_sub(1);
    return fail(std::move(thread.error()));
  }
  thread_ = std::move(*thread);
  started_ = true;
  return {};
}

void BellWatcher::add(Node& node) {
  bool new_group = false;
  {
    const std::lock_guard guard{mutex_};
    const std::size_t index = node.counter_ / kCountersPerGroup;
    const std::uint64_t group_bit = std::uint64_t{1} << index;
    if ((groups_in_use_ & group_bit) == 0) {
      bell_.layout().groups[index].watchers.fetch_add(1);
      groups_in_use_ |= group_bit;
      groups_to_scan_ |= group_bit;
      new_group = true;
    }
    Counter& counter = counters_[node.counter_];
    if (counter.nodes.empty()) {
      counter.seen = bell_.layout().counters[node.counter_].load();
      groups_[index].in_use |= std::uint64_t{1} << (node.counter_ % kCountersPerGroup);
    }
    node.index_ = counter.nodes.size();
    counter.nodes.push_back(&node);
    ++watches_;
  }
  if (new_group) nudge();
}

void BellWatcher::remove(Node& node) {
  std::unique_lock lock{mutex_};
  const auto found = counters_.find(node.counter_);
  auto& nodes = found->second.nodes;
  nodes[node.index_] = nodes.back();
  nodes[node.index_]->index_ = node.index_;
  nodes.pop_back();
  if (node.due_index_ != Node::kNotDue) due_[node.due_index_] = nullptr;
  if (nodes.empty()) {
    counters_.erase(found);
    const std::size_t index = node.counter_ / kCountersPerGroup;
    groups_[index].in_use &= ~(std::uint64_t{1} << (node.counter_ % kCountersPerGroup));
    if (groups_[index].in_use == 0) {
      groups_in_use_ &= ~(std::uint64_t{1} << index);
      bell_.layout().groups[index].watchers.fetch_sub(1);
    }
  }
  --watches_;
  if (running_ != &node) return;
  HOLDFAST_CHECK(std::this_thread::get_id() != thread_.get_id(),
                 "a watch was ended by its own callback");
  call_ended_.wait(lock, [&] { return running_ != &node; });
}

void BellWatcher::nudge() {
  control_.fetch_add(1);
  futex_wake(control_, kWakeAll, false);
  if (!one_word_) return;
  bell_.layout().everything.fetch_add(1);
  futex_wake(bell_.layout().everything, kWakeAll, true);
}

void BellWatcher::call_all() {
  {
    const std::lock_guard guard{mutex_};
    if (watches_ == 0) return;
    call_all_ = true;
  }
  nudge();
}

void BellWatcher::run() {
  std::unique_lock lock{mutex_};
  while (!stopping_) {
    note_words();
    dispatch(lock);
    if (stopping_) break;
    lock.unlock();
    sleep();
    wakeups_.fetch_add(1, std::memory_order_relaxed);
    lock.lock();
  }
}

/// Notes what to sleep on, and which groups have been rung since they were noted last.
void BellWatcher::note_words() {
  BellLayout& layout = bell_.layout();
  waits_.clear();
  waits_.push_back({&control_, control_.load(), false});
  if (one_word_) waits_.front() = {&layout.everything, layout.everything.load(), true};
  waits_.push_back({&layout.generation, layout.generation.load(), true});
  for (std::uint64_t left = groups_in_use_; left != 0; left &= left - 1) {
    const auto index = static_cast<std::size_t>(std::countr_zero(left));
    const std::uint32_t word = layout.groups[index].word.load();
    waits_.push_back({&layout.groups[index].word, word, true});
    if (word != groups_[index].seen) groups_to_scan_ |= std::uint64_t{1} << index;
    groups_[index].seen = word;
  }
  if (waits_[1].expected != generation_seen_) {
    generation_seen_ = waits_[1].expected;
    guard_.poke();
  }
}

void BellWatcher::dispatch(std::unique_lock<std::mutex>& lock) {
  const bool all = std::exchange(call_all_, false);
  std::uint64_t groups = std::exchange(groups_to_scan_, 0) & groups_in_use_;
  for (; groups != 0; groups &= groups - 1) {
    collect(static_cast<std::size_t>(std::countr_zero(groups)));
  }
  if (all) {
    for (auto& [index, counter] : counters_) {
      for (Node* const node : counter.nodes) {
        if (node->due_index_ != Node::kNotDue) continue;
        node->due_index_ = due_.size();
        due_.push_back(node);
      }
    }
  }
  call_due(lock);
}

/// Adds the watches of a group's changed counters to those that are due.
void BellWatcher::collect(std::size_t group) {
  for (std::uint64_t left = groups_[group].in_use; left != 0; left &= left - 1) {
    const std::size_t index =
        group * kCountersPerGroup + static_cast<std::size_t>(std::countr_zero(left));
    Counter& counter = counters_.find(index)->second;
    const std::uint32_t now = bell_.layout().counters[index].load();
    if (std::exchange(counter.seen, now) == now) continue;
    for (Node* const node : counter.nodes) {
      node->due_index_ = due_.size();
      due_.push_back(node);
    }
  }
}

void BellWatcher::call_due(std::unique_lock<std::mutex>& lock) {
  for (std::size_t i = 0; i < due_.size(); ++i) {
    Node* const node = due_[i];
    if (node == nullptr) continue;
    node->due_index_ = Node::kNotDue;
    running_ = node;
    lock.unlock();
    node->changed_();
    callbacks_.fetch_add(1, std::memory_order_relaxed);
    lock.lock();
    running_ = nullptr;
    call_ended_.notify_all();
  }
  due_.clear();
}

void BellWatcher::sleep() {
  if (one_word_) {
    futex_wait(*waits_.front().word, waits_.front().expected);
    return;
  }
  if (futex_wait_any(waits_) == FutexResult::kUnsupported) {
    HOLDFAST_CHECK(false, "the kernel took away a call that it had when the store was opened");
  }
}

BellWatcherStats BellWatcher::stats() const {
  const std::lock_guard guard{mutex_};
  return {callbacks_.load(), wakeups_.load(), guard_.wakeups(), watches_};
}

}  // namespace holdfast::store
