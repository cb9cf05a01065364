// The doorbell: how a commit of one process wakes the followers of all others. docs/doorbell.md
// tells it with drawings.
//
// `PATH-bell` is a small file that every process with the store open maps. A writer, after its
// commit, adds one to the counter of each log or space it changed and wakes who waits; a watching
// process sleeps in the kernel until then (bell_watcher.h).
//
// Invariants
//   - It holds nothing durable. The first process to open it clears it; so a reboot, damage or a
//     missing file are all the same case. An exclusive `flock` proves who is first, a shared one is
//     held for as long as the bell is open, and the kernel drops it when a process is killed.
//   - The file has its whole size, with its blocks allocated, before anything is read through the
//     map: no access can raise SIGBUS, unless somebody cuts the file under a running program.
//   - Rings come after commits. So whoever sees a counter's new value sees what was committed.
//   - A ring may be missed (a writer killed before it) or doubled; it never carries data.
//
// Leaves to others: waiting and callbacks (bell_watcher.h), noticing dead writers
// (writer_guard.h), reading what changed (the store).
//
// A bell must not be used in a forked child (nor can a SQLite connection): open the store there
// anew.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/result.h>
#include <holdfast/store.h>

#include "store/sqlite/bell_layout.h"

namespace holdfast::store {

/// Which counter: [0, kBellCounters). Several logs may share one; a ring for one is then a needless
/// hint for the others.
enum class BellSlot : std::uint16_t {};

/// The counter of a log, and of a space's rows. Part of the file's format.
[[nodiscard]] BellSlot bell_slot(const LogKey& log);
[[nodiscard]] BellSlot bell_slot_of_log(std::string_view home, std::string_view log);
[[nodiscard]] BellSlot bell_slot_of_space(std::string_view space);

/// A writer as the table names it, and where.
struct ListedWriter {
  std::size_t place = 0;
  std::uint32_t pid = 0;
  std::uint64_t pid_namespace = 0;  ///< 0: unknown
  std::uint64_t ticket = 0;
  friend bool operator==(const ListedWriter&, const ListedWriter&) = default;
};
/// The inode of this process's pid namespace; 0 if it cannot be read.
[[nodiscard]] std::uint64_t own_pid_namespace();

/// The mapped file. Thread-safe.
class Bell {
 public:
  /// Opens the bell of the store at `store_path`, making the file if need be. Symbolic links are
  /// resolved, as SQLite does for its own files. Errors: `kDiskFull`, `kIo`; `kSchema` when a
  /// program with another layout has the store open; `kCorrupt` when the file was damaged while
  /// programs have it open.
  [[nodiscard]] static Result<std::unique_ptr<Bell>> open(const std::string& store_path);
  ~Bell();
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;

  /// Says that what the slots stand for has changed. After the commit, by any thread of any
  /// process. About 20 ns where nobody watches, and a system call for each group that is watched.
  void ring(std::span<const BellSlot> slots);

  /// Lists this process as one that may commit, so that others notice its death. Before the first
  /// commit; cheap when done before. Stays so until the bell is closed.
  void register_writer();
  [[nodiscard]] std::vector<ListedWriter> writers() const;
  /// This bell's own place, if it has one.
  [[nodiscard]] std::optional<ListedWriter> own_place() const;
  /// Whether a writer still lives and has his place; of any process, in any namespace. True also
  /// for one that was killed while a child that he forked lives.
  [[nodiscard]] bool lives(const ListedWriter& writer) const;
  /// Clears the place of a writer that is dead and tells every process. False if it is no longer
  /// his: he left in order, or another process has cleared it (and counted in `deaths`).
  bool reap(const ListedWriter& dead);

  /// A write transaction has ended: lets one that waits for its turn try again. A few nanoseconds
  /// where nobody waits.
  void writer_done();

  /// The mapped words, for what waits for them.
  [[nodiscard]] BellLayout& layout() { return *layout_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  /// The file was deleted or replaced since it was opened: processes that open the store now do not
  /// hear this one, nor it them.
  [[nodiscard]] bool replaced() const;

 private:
  Bell(std::string path, int fd, BellLayout* layout);
  void announce_table_change();
  [[nodiscard]] std::size_t take_place();

  std::string path_;
  int fd_;
  BellLayout* layout_;
  mutable std::mutex table_mutex_;  // orders this process's threads; the file lock orders processes
  std::atomic<bool> listed_{false};
  ListedWriter own_{};  // set before listed_; place kWriterPlaces: there was none
};

/// Waiting for one's turn to write, for SQLite's busy handler. Make it before trying for the lock:
/// a turn that ends between the refusal and the wait is then not missed.
class TurnWait {
 public:
  explicit TurnWait(Bell& bell) : bell_{bell}, seen_{bell.layout().turns.load()} {}
  /// Waits until a write transaction of any process has ended since this was made or last waited,
  /// at most `limit`. A lock holder that is killed, or is no program of ours, ends no turn: try
  /// again after a short limit in any case. True if a turn has ended.
  bool wait(std::chrono::milliseconds limit);

 private:
  Bell& bell_;
  std::uint32_t seen_;
};

}  // namespace holdfast::store
