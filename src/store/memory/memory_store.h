// The store in memory: what the contract means, in ordered maps under one mutex. Simple on purpose:
// the other stores are compared with it.
//
// Invariants
//   - A log's records are [first, first + records.size()).
//   - Every row's version was drawn once from one counter, so it grows across deletes.
//
// Left to others: names, limits and the order of refusals (core/log/batch_check), calling back
// (watch_hub).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include <holdfast/store.h>

#include "store/memory/watch_hub.h"

namespace holdfast::store {

class MemoryStore final : public Store {
 public:
  explicit MemoryStore(const Clock& clock) : clock_{clock} {}

  Result<Committed> commit(const Batch& batch) override;
  /// Commits and calls `done` on the caller's thread.
  void commit_async(Batch batch, CommitCallback done) override;

  Result<Records> read(const LogKey& log, Offset from, const ReadLimits& limits) override;
  Result<LogState> tail(const LogKey& log) override;
  Result<std::optional<Row>> get(std::string_view space, std::string_view key) override;
  Result<std::vector<Row>> scan(std::string_view space, const KeyRange& range,
                                std::size_t limit) override;
  Result<Watch> watch(const LogKey& log, WatchCallback changed) override;
  Result<Watch> watch_space(std::string_view space, WatchCallback changed) override;
  Result<Offset> locate_time(const LogKey& log, Timestamp cutoff) override;
  Result<Offset> locate_bytes(const LogKey& log, std::uint64_t bytes) override;
  Result<std::vector<LogKey>> logs(const LogKey& after, std::size_t limit) override;
  [[nodiscard]] StoreStats stats() const override;

 private:
  struct StoredRecord {
    Bytes bytes;
    Timestamp time{};
  };
  struct Log {
    Offset first{};
    std::deque<StoredRecord> records{};
    bool closed = false;
    Epoch epoch{};
    std::uint64_t bytes = 0;  // payload bytes ever appended
    [[nodiscard]] Offset tail() const { return first + records.size(); }
    [[nodiscard]] LogState state() const { return {first, tail(), closed, epoch, bytes}; }
  };
  struct StoredRow {
    std::string home;
    Bytes value;
    std::uint64_t version = 0;
  };
  using RowKey = std::pair<std::string, std::string>;  // (space, key)

  [[nodiscard]] Result<void> check(const Batch& batch) const;
  [[nodiscard]] Result<void> check_logs(const Batch& batch) const;
  [[nodiscard]] Result<void> check_row_parts(const Batch& batch) const;
  Committed apply(const Batch& batch);
  AppendedRange apply_append(const std::string& home, const LogAppend& append);
  void announce(const Batch& batch);
  [[nodiscard]] Result<const Log*> find(const LogKey& log) const;

  const Clock& clock_;
  mutable std::mutex mutex_;
  // All guarded by mutex_.
  std::map<LogKey, Log> logs_;
  std::map<RowKey, StoredRow> rows_;
  std::uint64_t last_version_ = 0;
  StoreStats stats_;

  WatchHub hub_;
};

}  // namespace holdfast::store
