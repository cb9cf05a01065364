// One workload on a SQLite store over the simulated disk, one fault in it, and the judgement.
//
// What is judged, after the fault, the crash and the reopening:
//
//   full, or only the process died    what was acknowledged, and perhaps the action in flight:
//   whole relaxed, power lost               what some prefix of the actions made: nothing torn, no
//   holes
//
// and always: check() finds nothing, the rest of the workload can be done, and ends where it must.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <holdfast/sqlite_store.h>

#include "sim/fault_vfs.h"
#include "sim/script.h"
#include "sim/temp_dir.h"

namespace holdfast::crash {

struct Action {
  enum class Kind : std::uint8_t { kCommit, kSeal, kCompact, kBackup };
  Kind kind{};
  Batch batch{};
};

/// A fixed list of actions, and what the store must hold after each prefix of it.
class Workload {
 public:
  explicit Workload(std::uint64_t seed, std::size_t commits);

  [[nodiscard]] const std::vector<Action>& actions() const { return actions_; }
  /// The dump after the first `count` actions.
  [[nodiscard]] const std::string& dump_after(std::size_t count) const { return dumps_[count]; }

 private:
  void add(Action action);

  sim::Script script_;  // owns the bytes that the actions borrow
  std::unique_ptr<Store> model_;
  std::vector<Action> actions_;
  std::vector<std::string> dumps_;
};

/// Where and how it goes wrong.
struct Point {
  sim::Fault fault{};
  std::uint64_t at = 0;
  sim::Loss loss{};
};
[[nodiscard]] std::string describe(const Point& point);

struct Judgement {
  bool struck = false;
  /// Empty if all that was promised holds.
  std::string broken{};
  std::uint64_t calls = 0;  ///< of the disk, in all
};

struct RunOptions {
  Durability durability = Durability::kFull;
  /// Checkpoints and seals run in the background, after every few KB.
  bool background = false;
};

class Run {
 public:
  Run(const Workload& workload, const RunOptions& options, const Point& point);
  [[nodiscard]] Judgement judge();
  /// Calls of the disk that the fault could strike, in a run without any; `kNone`: all calls.
  [[nodiscard]] static std::uint64_t calls(const Workload& workload, const RunOptions& options,
                                           sim::Fault fault);

 private:
  [[nodiscard]] Result<std::unique_ptr<SqliteStore>> open();
  [[nodiscard]] Result<void> perform(SqliteStore& store, std::size_t index);
  void work();
  /// Judges a refusal by a store that lives on. False: the store is of no more use.
  [[nodiscard]] bool live_on(SqliteStore& store, const Error& error);
  void recover();
  void go_on(SqliteStore& store, std::size_t from);
  void verify_backup(const std::string& path);
  [[nodiscard]] bool matches(const std::string& dump, std::size_t from, std::size_t to,
                             std::size_t& found) const;
  void broken(const std::string& what);
  [[nodiscard]] bool may_lose_acknowledged() const;

  const Workload& workload_;
  const RunOptions& options_;
  Point point_;
  sim::TempDir directory_;
  sim::FaultVfs vfs_;
  Random random_;
  std::size_t acknowledged_ = 0;  // actions
  std::size_t backups_ = 0;
  bool stopped_ = false;
  Judgement judgement_;
};

}  // namespace holdfast::crash
