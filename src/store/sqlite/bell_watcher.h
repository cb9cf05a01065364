// Watches: callbacks for counters of a bell. One thread per open store, however many watches,
// started by the first one; it sleeps in the kernel until a group of counters that is watched here
// is rung.
//
//   watch()    note the counter; list the watch under it          (then the caller reads the log)
//   thread     note the words of the groups in use -> compare the counters, call who changed
//              -> sleep while the words are as noted
//   ring()     counter + 1 -> word of its group + 1 -> wake        (after the commit)
//
// Invariants
//   - After watch() has returned, every commit that its caller has not read is followed by a call:
//     either the counter differs from the one noted, or it will. The thread notes words before it
//     compares counters, so a ring in between keeps it from sleeping.
//     bell_model_test.cpp tries all interleavings.
//   - After a registration's destructor has returned, its callback neither runs nor will.
//   - A ring costs what its counter's watches cost, whatever else is watched.
//   - Nothing wakes the thread but rings, changes of the writers' table, deaths, and changes of
//     which groups are in use.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include <holdfast/result.h>
#include <holdfast/store.h>

#include "store/sqlite/bell.h"
#include "store/sqlite/writer_guard.h"

namespace holdfast::store {

struct BellWatcherOptions {
  /// Wait for one word that every ring of the store touches, as on kernels before 5.16. For tests:
  /// a kernel without the call is noticed anyway.
  bool one_word = false;
  /// See WriterGuard::Hooks.
  std::function<bool()> changed_elsewhere{};
  std::chrono::milliseconds check_interval{1'000};
  bool without_pidfds = false;
};

/// Counts since it was made.
struct BellWatcherStats {
  std::uint64_t callbacks = 0;
  std::uint64_t wakeups = 0;        ///< times the watching thread left its sleep
  std::uint64_t guard_wakeups = 0;  ///< the same for the thread that sleeps on writers' deaths
  std::size_t watches = 0;
};

/// Thread-safe; must outlive its watches, and its bell must outlive it.
class BellWatcher {
 public:
  explicit BellWatcher(Bell& bell, BellWatcherOptions options = {});
  ~BellWatcher();
  BellWatcher(const BellWatcher&) = delete;
  BellWatcher& operator=(const BellWatcher&) = delete;

  /// Calls `changed` after every ring of the slot and after every death of a writer; see
  /// Store::watch. On the watching thread; it must return at once. It may make and end watches, but
  /// not end its own. Error: `kUnavailable` when the threads cannot be started.
  Result<Watch> watch(BellSlot slot, WatchCallback changed);
  /// Calls every watch once.
  void call_all();

  [[nodiscard]] BellWatcherStats stats() const;

 private:
  struct Node;
  struct Counter {
    std::uint32_t seen = 0;
    std::vector<Node*> nodes;
  };
  struct Group {
    std::uint32_t seen = 0;
    std::uint64_t in_use = 0;  ///< bit per counter that has watches
  };

  Result<void> start();  // mutex held
  void run();
  void note_words();
  void dispatch(std::unique_lock<std::mutex>& lock);
  void collect(std::size_t group);
  void call_due(std::unique_lock<std::mutex>& lock);
  void sleep();
  void nudge();
  void add(Node& node);
  void remove(Node& node);

  Bell& bell_;
  const BellWatcherOptions options_;
  FutexWord control_{0};  ///< this process's own: stop, a new group, call all
  std::atomic<std::uint64_t> wakeups_{0};
  std::atomic<std::uint64_t> callbacks_{0};

  mutable std::mutex mutex_;  // guards all below, but for the thread's own
  std::condition_variable call_ended_;
  std::unordered_map<std::size_t, Counter> counters_;
  std::array<Group, kBellGroups> groups_{};
  std::uint64_t groups_in_use_ = 0;
  std::uint64_t groups_to_scan_ = 0;
  std::vector<Node*> due_;  ///< to be called; null where the watch has ended since
  Node* running_ = nullptr;
  std::size_t watches_ = 0;
  bool call_all_ = false;
  bool started_ = false;
  bool stopping_ = false;

  // The thread's own.
  bool one_word_;
  std::uint32_t generation_seen_ = 0;
  std::vector<FutexWait> waits_;

  WriterGuard guard_;
  std::thread thread_;
};

}  // namespace holdfast::store
