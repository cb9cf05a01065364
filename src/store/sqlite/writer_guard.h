// Notices writers that die: one thread that sleeps on the pidfds of all processes listed in a
// bell's table, for as long as none of them dies and none is added.
//
// A writer killed after its commit and before its ring leaves a commit of which nobody was told.
// Its death is the ring that it owed: `on_death` then makes every watch look once.
//
// Invariants
//   - Whoever is listed when a scan begins is watched when it ends, or `on_death` is called, or
//     `unwatchable` is above 0, and the clock asks after each such writer. Whoever was cleared
//     before that counted in the table's `deaths`, which is compared after each scan.
//   - With no unwatchable writer the thread wakes for deaths and changes of the table alone.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <thread>
#include <vector>

#include <holdfast/result.h>

#include "store/sqlite/bell.h"

namespace holdfast::store {

class WriterGuard {
 public:
  struct Hooks {
    /// A writer has died, perhaps without having rung. On the guard's thread.
    std::function<void()> on_death;
    /// Asked once per interval while a writer lives that cannot be watched (another pid namespace,
    /// no pidfds on this system): has anything been committed since the last call? Unset: yes.
    std::function<bool()> changed_elsewhere;
    std::chrono::milliseconds check_interval{1'000};
    /// Take pidfds to be missing; for tests.
    bool without_pidfds = false;
  };

  /// The bell must outlive the guard.
  WriterGuard(Bell& bell, Hooks hooks);
  ~WriterGuard();
  WriterGuard(const WriterGuard&) = delete;
  WriterGuard& operator=(const WriterGuard&) = delete;

  /// Starts the thread. Once. Error: `kUnavailable` when threads or descriptors have run out.
  Result<void> start();
  [[nodiscard]] bool started() const { return thread_.joinable(); }
  /// The table has changed: look at it again. Thread-safe, at any time after start().
  void poke();

  /// Times the thread left its sleep.
  [[nodiscard]] std::uint64_t wakeups() const { return wakeups_.load(); }
  /// Writers that can only be checked by the clock.
  [[nodiscard]] std::size_t unwatchable() const { return unwatchable_.load(); }

 private:
  struct Watched {
    ListedWriter writer;
    int pidfd = -1;
  };

  void run();
  void scan();
  void check_elsewhere();
  /// Opens what can be polled for the writer's death; -1 if that is not to be had.
  [[nodiscard]] int open_pidfd(const ListedWriter& writer) const;
  void wait();

  Bell& bell_;
  const Hooks hooks_;
  const std::uint64_t pid_namespace_;
  int poke_fd_ = -1;
  std::thread thread_;
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint64_t> wakeups_{0};
  std::atomic<std::size_t> unwatchable_{0};

  // The thread's own.
  std::vector<Watched> watched_;
  std::uint32_t deaths_seen_;
};

/// Runs `body` on a new thread that takes none of the process's signals. Error: `kUnavailable`.
Result<std::thread> start_quiet_thread(const char* name, std::function<void()> body);

}  // namespace holdfast::store
