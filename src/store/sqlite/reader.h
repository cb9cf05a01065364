// Reading: a connection with its statements, and a small pool of them.
//
// Invariants
//   - Each call reads in one snapshot: the first statement that is left open holds it.
//   - Nothing is given out that fails its checksum.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <holdfast/store.h>

#include "core/log/block.h"
#include "store/sqlite/compression.h"
#include "store/sqlite/counters.h"
#include "store/sqlite/database.h"
#include "store/sqlite/log_ids.h"
#include "store/sqlite/wal_stamp.h"

namespace holdfast::store {

/// One reading connection. One thread at a time.
class Reader {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Reader>> make(Connection connection, LogIds& ids,
                                                            Counters& counters);

  Result<Records> read(const LogKey& log, Offset from, const ReadLimits& limits);
  Result<LogState> tail(const LogKey& log);
  Result<std::optional<Row>> get(std::string_view space, std::string_view key);
  Result<std::vector<Row>> scan(std::string_view space, const KeyRange& range, std::size_t limit);
  Result<Offset> locate_time(const LogKey& log, Timestamp cutoff);
  Result<Offset> locate_bytes(const LogKey& log, std::uint64_t bytes);
  Result<std::vector<LogKey>> logs(const LogKey& after, std::size_t limit);

  [[nodiscard]] Connection& connection() { return connection_; }

 private:
  // A block in the snapshot; its bytes live until the statement they came from goes on.
  struct Block {
    core::BlockKey key{};
    core::BlockHeader header{};
    BytesView bytes{};
    [[nodiscard]] LogState state() const { return header.state(key); }
    [[nodiscard]] Offset next() const { return key.first() + header.count; }
  };
  // A read under way: what it may still take, and where it puts bytes.
  struct Taking {
    core::ReadBudget budget{};
    Records records{};
    char* space = nullptr;  // free bytes in the newest arena piece
    std::size_t space_bytes = 0;
    std::size_t piece_bytes = 0;  // of the next piece
  };

  Reader(Connection connection, LogIds& ids, Counters& counters)
      : connection_{std::move(connection)}, ids_{ids}, counters_{counters} {}
  Result<void> prepare();
  Result<Block> find_tail(const LogKey& log);
  Result<std::optional<Block>> step_tail(const LogKey& log, std::uint64_t id);
  Result<Block> column_block(const LogKey& log, Statement& statement);
  // Visits the blocks of [from, tail] in order while `visit` returns true.
  Result<void> walk(const LogKey& log, const Block& tail, Offset from,
                    const std::function<Result<bool>(const Block&)>& visit);
  Result<void> take(const LogKey& log, const Block& block, Offset from, Taking& taking);
  Result<void> take_hot(const LogKey& log, const Block& block, Offset from, Taking& taking);
  Result<void> take_sealed(const LogKey& log, const Block& block, Offset from, Taking& taking);
  Result<BytesView> unsealed(const LogKey& log, const Block& block);
  Result<Row> column_row(std::string_view space, std::string_view key, Statement& statement,
                         int first_column);

  Connection connection_;
  LogIds& ids_;
  Counters& counters_;
  Statement find_log_, tail_, seek_, next_, get_, logs_;
  Statement scan_up_, scan_up_open_, scan_down_, scan_down_open_;

  // Tails as they were at `tails_at_`, and are until somebody commits.
  static constexpr std::size_t kTailsMax = 1'024;
  WalStamp tails_at_;
  std::unordered_map<std::string, LogState> tails_;

  // The sealed block that was decompressed last, for reads that take little of it at a time.
  Decompressor decompressor_;
  std::string unsealed_;
  std::uint64_t unsealed_checksum_ = 0;
  core::BlockKey unsealed_key_{};
};

/// Readers for many threads: at most `readers_max` at a time, the others wait.
class ReaderPool {
 public:
  using Open = std::function<Result<std::unique_ptr<Reader>>()>;
  explicit ReaderPool(Open open) : open_{std::move(open)} {}
  ReaderPool(const ReaderPool&) = delete;
  ReaderPool& operator=(const ReaderPool&) = delete;

  /// A reader on loan.
  class Loan {
   public:
    Loan(ReaderPool& pool, std::unique_ptr<Reader> reader)
        : pool_{&pool}, reader_{std::move(reader)} {}
    Loan(Loan&&) noexcept = default;
    Loan& operator=(Loan&&) = delete;
    ~Loan() {
      if (reader_) pool_->give_back(std::move(reader_));
    }
    Reader* operator->() const { return reader_.get(); }
    Reader& operator*() const { return *reader_; }

   private:
    ReaderPool* pool_;
    std::unique_ptr<Reader> reader_;
  };
  [[nodiscard]] Result<Loan> lend();

 private:
  static constexpr std::size_t kReadersMax = 8;
  void give_back(std::unique_ptr<Reader> reader);

  Open open_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::condition_variable returned_;
  std::vector<std::unique_ptr<Reader>> idle_;
  std::size_t lent_ = 0;
};

}  // namespace holdfast::store
