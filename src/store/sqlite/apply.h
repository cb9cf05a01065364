// One write transaction: batches are checked and applied in it one after the other, each against
// what those before it left.
//
// Invariants
//   - A refused batch leaves no trace, and the transaction goes on. Only a failure of SQLite breaks
//     the transaction; then nothing of it has happened.
//   - Tail blocks are kept in memory between transactions, and believed only while SQLite's data
//     version says that nobody else has written since.
//   - What is changed in memory is written before the commit, each tail block once.
//
// One thread at a time uses it: whoever holds the writer's turn (writer.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <holdfast/store.h>

#include "core/log/block.h"
#include "store/sqlite/counters.h"
#include "store/sqlite/database.h"
#include "store/sqlite/log_ids.h"

namespace holdfast::store {

class Applier {
 public:
  struct Setup {
    Connection& connection;
    LogIds& ids;
    const Clock& clock;
    Counters& counters;
    /// Told, after a commit, of a log whose older blocks have grown by this much since last time.
    std::size_t growth_bytes = 0;
    std::function<void(std::uint64_t log_id)> grown{};
  };
  [[nodiscard]] static Result<std::unique_ptr<Applier>> make(const Setup& setup);

  /// Starts a transaction; waits for other processes as the connection's busy handler says. With
  /// `keep_snapshot` the connection stays in its snapshot after the commit, which saves the next
  /// begin() half of its locks as long as nobody else writes. Such a snapshot holds up checkpoints:
  /// leave it soon.
  [[nodiscard]] Result<void> begin(bool keep_snapshot);
  [[nodiscard]] bool keeps_snapshot() const { return keeps_snapshot_; }
  /// Not while a transaction is open.
  void leave_snapshot() noexcept;
  /// Checks a batch and, if it is sound, applies it. On an error ask failed().
  [[nodiscard]] Result<Committed> add(const Batch& batch);
  /// Whether SQLite failed, so that the transaction must be abandoned.
  [[nodiscard]] bool failed() const { return failed_; }
  /// Writes what is kept back and commits; the commit's durability is the connection's. On an error
  /// the transaction must be abandoned.
  [[nodiscard]] Result<void> finish();
  /// Undoes the transaction and forgets what it may have changed.
  void abandon() noexcept;

 private:
  // A log as the writer knows it.
  struct Slot {
    std::uint64_t generation = 0;  // of the cache, when this was read
    bool exists = false;
    bool dirty = false;  // `tail` differs from the file
    std::uint64_t id = 0;
    core::HotBlock tail{};
    std::size_t growth = 0;  // bytes of blocks that were left behind since grown() was called
  };
  struct FoundRow {
    std::string home{};
    std::uint64_t version = 0;  // 0: not there
  };
  // Counted when the transaction is committed.
  struct Tally {
    std::uint64_t commits = 0;
    std::uint64_t records = 0;
    std::uint64_t bytes = 0;
    std::uint64_t rows = 0;
  };

  explicit Applier(const Setup& setup) : setup_{setup} {}
  Result<void> prepare();

  // Finding (apply.cpp)
  Result<Slot*> slot(std::string_view home, std::string_view log);
  Result<void> load(Slot& slot, std::string_view home, std::string_view log);
  Result<bool> load_tail(Slot& slot, std::string_view home, std::string_view log);
  Result<FoundRow> find_row(std::string_view space, std::string_view key);
  Result<void> check(const Batch& batch);
  Result<void> check_logs(const Batch& batch);
  Result<void> check_rows(const Batch& batch);
  Error sql_error(std::string_view doing);

  // Changing (apply_changes.cpp)
  Result<void> create(const Batch& batch, const LogCreate& create, Slot& slot);
  Result<AppendedRange> append(const LogAppend& append, Slot& slot, Timestamp now);
  Result<void> trim(const LogTrim& trim, Slot& slot);
  Result<void> remove(const Batch& batch, const LogRemove& remove, Slot& slot);
  Result<std::uint64_t> put(const Batch& batch, const RowPut& put, std::uint64_t version);
  Result<void> erase(const RowDelete& part, std::uint64_t version);
  Result<void> write_tail(Slot& slot);
  Result<void> start_block(Slot& slot);
  Result<void> delete_blocks(core::BlockKey from, core::BlockKey to);
  Result<void> load_deleted_version();
  Result<Committed> apply(const Batch& batch);
  void touch(Slot& slot);

  Setup setup_;
  Statement begin_, commit_, snapshot_, find_log_, find_tail_, find_block_, put_block_,
      delete_blocks_;
  Statement insert_log_, delete_log_, find_row_, put_row_, delete_row_, find_counter_, set_counter_;

  std::unordered_map<std::string, Slot, PathHash, std::equal_to<>> slots_;
  std::uint64_t generation_ = 1;
  std::uint32_t data_version_ = 0;
  std::string path_;  // of the slot that is looked for

  bool keeps_snapshot_ = false;

  // Of the open transaction.
  bool failed_ = false;
  std::vector<Slot*> dirty_;
  std::vector<std::pair<std::string, std::uint64_t>> made_;
  std::vector<std::string> removed_;
  std::vector<std::uint64_t> grown_;
  Tally tally_;

  // Of the batch in hand, in the order of its lists.
  std::vector<Slot*> create_slots_, append_slots_, trim_slots_;
  std::vector<FoundRow> put_rows_, delete_rows_;

  // The highest version of a deleted row, and the upper bound of it that the file holds: new rows
  // start above it, so that versions grow across deletes.
  std::uint64_t deleted_version_ = 0;
  std::uint64_t deleted_version_stored_ = 0;
  std::uint64_t deleted_version_generation_ = 0;
};

}  // namespace holdfast::store
