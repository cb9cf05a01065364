// Watches within one process: a thread of its own calls back after a change. It starts with the
// first watch, and sleeps without a timer while nothing changes.
//
// Invariants
//   - A change that is announced after watch() returned is followed by a call, unless the watch has
//     ended; changes announced before the call share it.
//   - Once a registration's destructor has returned, its callback neither runs nor will.
//   - The hub outlives its registrations.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <holdfast/store.h>

namespace holdfast::store {

class WatchHub {
 public:
  WatchHub() = default;
  WatchHub(const WatchHub&) = delete;
  WatchHub& operator=(const WatchHub&) = delete;
  ~WatchHub();

  /// Calls `changed` after every announcement of `topic`.
  [[nodiscard]] Watch watch(std::string topic, WatchCallback changed);
  /// Says that these topics changed. Costs a lock while nobody watches.
  void announce(const std::vector<std::string>& topics);

  [[nodiscard]] std::uint64_t wakes() const;
  [[nodiscard]] std::uint64_t wakeups() const;

 private:
  class Entry;
  void remove(Entry& entry);
  void run();

  mutable std::mutex mutex_;
  std::condition_variable work_;   // the thread waits here
  std::condition_variable ended_;  // remove() waits here for a callback that runs
  // All guarded by mutex_.
  std::multimap<std::string, Entry*> entries_;
  std::vector<Entry*> pending_;
  Entry* running_ = nullptr;
  bool stopping_ = false;
  std::uint64_t wakes_ = 0;
  std::uint64_t wakeups_ = 0;
  std::thread thread_;
};

}  // namespace holdfast::store
