// The store contract: logs and ordered rows, six verbs. Everything durable in Holdfast is kept by a
// store, and every store (memory, SQLite) passes the one suite in tests/store_suite.h.
//
//   log:   first          tail
//           v              v
//     ....[ r3 ][ r4 ][ r5 ]          offsets are dense; trimming moves `first`, appending moves
//     `tail`
//
// Invariants
//   - A batch is committed whole or not at all, and touches one home.
//   - Offsets are given at commit, dense from the log's start, never reused.
//   - A reader never sees a hole, nor a record that is not durable at the store's level.
//   - No operation's cost depends on how long a log's history is.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/bytes.h>
#include <holdfast/clock.h>
#include <holdfast/ids.h>
#include <holdfast/result.h>

namespace holdfast {

/// Limits that every store keeps; beyond them: `kTooLarge` (sizes) or `kInvalidArgument` (names).
inline constexpr std::size_t kNameBytesMax = 512;  ///< home, log and space names; UTF-8 without NUL
inline constexpr std::size_t kKeyBytesMax = 1'024;         ///< row keys; any bytes
inline constexpr std::size_t kRecordBytesMax = 16u << 20;  ///< one record or one row's value
inline constexpr std::size_t kBatchBytesMax = 64u << 20;   ///< all records and values of one batch
inline constexpr std::size_t kBatchRecordsMax = 100'000;   ///< all records of one batch
inline constexpr std::uint64_t kLogOffsetsMax = 1ull << 32;  ///< a log's tail never passes this

/// Names a log: the home that owns it and its name there.
struct LogKey {
  std::string home;
  std::string log;
  friend auto operator<=>(const LogKey&, const LogKey&) = default;
};

// --- What a batch can do ------------------------------------------------------------------------

/// Makes an empty log that starts at `first`. `kAlreadyExists` if it is there, unless `if_missing`.
struct LogCreate {
  std::string log;
  Offset first{};
  bool if_missing = false;
};

/// Appends records, in order, to a log that exists and is open.
struct LogAppend {
  std::string log;
  /// Borrowed: the bytes must live until the commit has completed. May be empty to check or to
  /// close.
  std::vector<BytesView> records;
  /// If set and not the log's tail: `kStale`, `actual` = the tail.
  std::optional<Offset> expected_tail{};
  /// If set and lower than the log's epoch: `kStale`, `actual` = the epoch. A higher one becomes
  /// the log's epoch with this commit.
  std::optional<Epoch> epoch{};
  /// Close the log after these records: every later append is refused with `kClosed`, an empty one
  /// too. Closing a closed log without records changes nothing and succeeds.
  bool close = false;
};

/// Drops all records before `before` (clamped to [first, tail]); offsets stay. Never brings any
/// back.
struct LogTrim {
  std::string log;
  Offset before{};
};

/// Removes a log with all its records. Removing a log that is not there succeeds.
struct LogRemove {
  std::string log;
};

/// Writes a row. Its version is 1 or more and grows with every put, also across deletes.
struct RowPut {
  std::string space;
  std::string key;
  Bytes value;
  /// If set: the version the row must have now; 0 = it must not exist. Otherwise `kStale`, `actual`
  /// = the version found (0 if none).
  std::optional<std::uint64_t> expected_version{};
};

/// Deletes a row; deleting a row that is not there succeeds unless a version other than 0 was
/// expected.
struct RowDelete {
  std::string space;
  std::string key;
  std::optional<std::uint64_t> expected_version{};
};

/// What is committed together. All checks are made before anything is written, against the state
/// before the batch (a log that the batch creates counts as there, and empty); then creates,
/// appends, trims, removes, puts and deletes happen in this order. One log or row may stand in
/// several lists, but at most once in each. If several things are wrong, names and limits come
/// first, then the lists in this order; of one append: not there, epoch, closed, expected tail.
struct Batch {
  /// The instance that owns everything the batch touches: "stream/<name>", "run/<id>", … A row that
  /// belongs to another home is not touched: `kConflict`.
  std::string home;
  std::vector<LogCreate> creates{};
  std::vector<LogAppend> appends{};
  std::vector<LogTrim> trims{};
  std::vector<LogRemove> removes{};
  std::vector<RowPut> puts{};
  std::vector<RowDelete> deletes{};
};

/// Where a batch's records went: [first, next), in the order of `Batch::appends`.
struct AppendedRange {
  Offset first{};
  Offset next{};
};

/// What a commit gave.
struct Committed {
  std::vector<AppendedRange> appends{};
  /// The new versions, in the order of `Batch::puts`.
  std::vector<std::uint64_t> row_versions{};
};

// --- What can be read
// -----------------------------------------------------------------------------

/// A log as it stands, from one row.
struct LogState {
  Offset first{};  ///< the oldest record that is kept
  Offset tail{};   ///< the next offset
  bool closed = false;
  Epoch epoch{};
  std::uint64_t bytes = 0;  ///< payload bytes ever appended (trimmed ones included)
};

/// One record. `bytes` points into the `Records` it came with.
struct Record {
  Offset offset{};
  BytesView bytes{};
};

/// Records [items.front().offset, next) of one log, read in one snapshot. Owns their bytes; moving
/// it keeps the views valid.
struct Records {
  std::vector<Record> items{};
  Offset next{};                                 ///< where to read on
  bool at_tail = false;                          ///< nothing lay beyond `next` when this was read
  bool closed = false;                           ///< at the tail, and nothing ever will
  std::vector<std::unique_ptr<char[]>> arena{};  ///< what the views point into
};

/// How much one read may return. At least one record is returned if there is one.
struct ReadLimits {
  std::size_t records_max = 65'536;
  std::size_t bytes_max = 1u << 20;
};

struct Row {
  std::string key;
  Bytes value;
  std::uint64_t version = 0;
};

/// Keys in [from, to); an empty `to` means no upper end. Keys compare as unsigned bytes.
struct KeyRange {
  std::string from{};
  std::string to{};
  bool descending = false;
  /// All keys that begin with `prefix`.
  [[nodiscard]] static KeyRange prefix(std::string_view prefix);
};

/// Counts since the store was opened, for tests of cost and for metrics. Bytes are payload bytes.
struct StoreStats {
  std::uint64_t commits = 0;       ///< batches committed
  std::uint64_t transactions = 0;  ///< transactions they shared
  std::uint64_t syncs = 0;         ///< fdatasync or fsync calls
  std::uint64_t records_written = 0;
  std::uint64_t bytes_written = 0;
  std::uint64_t rows_written =
      0;                        ///< database rows inserted, replaced or deleted, records' rows too
  std::uint64_t reads = 0;      ///< calls of read()
  std::uint64_t rows_read = 0;  ///< database rows stepped over by any verb
  std::uint64_t records_read = 0;
  std::uint64_t bytes_read = 0;
  std::uint64_t wakes = 0;            ///< watch callbacks made
  std::uint64_t watcher_wakeups = 0;  ///< times the watching thread left its wait
};

/// A registration; destroying it ends it. Once the destructor has returned, the callback neither
/// runs nor will. Do not destroy it inside its own callback.
class Watch {
 public:
  class Registration {
   public:
    virtual ~Registration() = default;
  };
  Watch() = default;
  explicit Watch(std::unique_ptr<Registration> registration)
      : registration_{std::move(registration)} {}
  [[nodiscard]] explicit operator bool() const { return registration_ != nullptr; }

 private:
  std::unique_ptr<Registration> registration_;
};

/// Called on the store's watching thread: must return at once and must not call the store.
using WatchCallback = std::function<void()>;
/// Called exactly once, on a thread of the store or on the caller's: must return at once.
using CommitCallback = std::function<void(Result<Committed>)>;

/// Where logs and rows live. Thread-safe; must outlive everything that uses it.
class Store {
 public:
  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  virtual ~Store() = default;

  /// Commits a batch and returns when it is durable at the store's level. Concurrent commits share
  /// one transaction; a lone one waits for nobody. Errors: those named beside each part of a batch,
  /// `kNotFound` for a log that is not there, `kInvalidArgument`/`kTooLarge` for limits,
  /// `kDiskFull`, `kStopped`, `kIo`; after each of them nothing of the batch has happened.
  virtual Result<Committed> commit(const Batch& batch) = 0;
  /// The same without blocking the caller: `done` is called when it is durable or refused. The
  /// batch's borrowed bytes must live until then.
  virtual void commit_async(Batch batch, CommitCallback done) = 0;

  /// Reads from `from` on, at most `limits`. At the tail there are no items. Errors: `kNotFound`;
  /// `kGone` below the first offset (`actual` = first); `kInvalidArgument` beyond the tail
  /// (`actual` = tail); `kCorrupt`.
  virtual Result<Records> read(const LogKey& log, Offset from, const ReadLimits& limits = {}) = 0;
  /// The log's state, from at most one row.
  virtual Result<LogState> tail(const LogKey& log) = 0;
  /// A row, or nothing.
  virtual Result<std::optional<Row>> get(std::string_view space, std::string_view key) = 0;
  /// Rows in key order (or its reverse), at most `limit`.
  virtual Result<std::vector<Row>> scan(std::string_view space, const KeyRange& range,
                                        std::size_t limit) = 0;

  /// Calls `changed` at least once after every commit, of any process, that touches the log after
  /// this returned. A hint: it may also come for nothing. The order that loses no wake-up: watch,
  /// read to the tail, wait for the call, read again. Costs nothing while nothing is committed.
  virtual Result<Watch> watch(const LogKey& log, WatchCallback changed) = 0;
  /// The same for any row of a space.
  virtual Result<Watch> watch_space(std::string_view space, WatchCallback changed) = 0;

  /// How far back to trim so that no record younger than `cutoff` goes: the returned offset is at
  /// or before the first such record, and costs as much as there is to trim.
  virtual Result<Offset> locate_time(const LogKey& log, Timestamp cutoff) = 0;
  /// How far to trim so that at least the last `bytes` payload bytes stay; same shape and cost.
  virtual Result<Offset> locate_bytes(const LogKey& log, std::uint64_t bytes) = 0;

  /// Logs in (home, log) order after `after`, at most `limit`.
  virtual Result<std::vector<LogKey>> logs(const LogKey& after, std::size_t limit) = 0;

  [[nodiscard]] virtual StoreStats stats() const = 0;
};

/// A store in this process's memory: the reference that the others are compared with. Nothing
/// outlives it.
[[nodiscard]] std::unique_ptr<Store> make_memory_store(const Clock& clock = system_clock());

}  // namespace holdfast
