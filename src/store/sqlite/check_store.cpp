// SqliteStore::check: reads everything there is and names what is wrong with it.
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/log/names.h"
#include "store/sqlite/block_errors.h"
#include "store/sqlite/compression.h"
#include "store/sqlite/maintenance.h"

namespace holdfast::store {
namespace {

constexpr std::uint64_t kProgressEvery = 256;
constexpr std::size_t kFaultsMax = 1'000;

class Checker {
 public:
  Checker(Connection& connection, const Progress& progress)
      : connection_{connection}, progress_{progress} {}

  Result<CheckReport> run() {
    if (auto ok = connection_.execute("BEGIN"); !ok) return fail(std::move(ok.error()));
    auto done = all();
    connection_.rollback();
    if (!done) return fail(std::move(done.error()));
    return std::move(report_);
  }

 private:
  struct Log {
    LogKey name;
    std::optional<core::BlockKey> newest{};
    core::BlockHeader header{};
    Offset oldest{};
    bool begun = false;
  };

  Result<void> all() {
    const auto total = connection_.number("SELECT count(*) FROM blocks");
    if (!total) return fail(total.error());
    total_ = static_cast<std::uint64_t>(*total);
    if (auto ok = integrity(); !ok) return ok;
    if (auto ok = find_logs(); !ok) return ok;
    if (auto ok = blocks(); !ok) return ok;
    for (const auto& item : logs_) finish_log(item.second);
    return rows();
  }

  void fault(std::string text) {
    if (report_.faults.size() < kFaultsMax) report_.faults.push_back(std::move(text));
  }

  // Rows of a query, one by one; a broken tree is a fault, not the end of the check.
  template <typename Visit>
  Result<void> each(const char* sql, Visit visit) {
    auto statement = Statement::prepare(connection_, sql);
    if (!statement) return fail(std::move(statement.error()));
    int rc = SQLITE_DONE;
    while ((rc = statement->step()) == SQLITE_ROW) visit(*statement);
    if (rc == SQLITE_DONE) return {};
    Error error = connection_.error("check");
    if (error.code != ErrorCode::kCorrupt) return fail(std::move(error));
    fault(std::move(error.message));
    return {};
  }

  Result<void> integrity() {
    return each("PRAGMA integrity_check(100)", [&](const Statement& row) {
      const BytesView line = row.column_bytes(0);
      if (line != "ok") fault(fmt::format("the file: {}", core::printable(line)));
    });
  }

  Result<void> find_logs() {
    return each("SELECT id, home, name FROM logs", [&](const Statement& row) {
      logs_[row.column_key(0)].name = {std::string{row.column_bytes(1)},
                                       std::string{row.column_bytes(2)}};
      ++report_.logs;
    });
  }

  Result<void> blocks() {
    std::uint64_t done = 0;
    return each("SELECT key, data FROM blocks ORDER BY key", [&](const Statement& row) {
      block({row.column_key(0)}, row.column_bytes(1));
      if (progress_ && ++done % kProgressEvery == 0) progress_(done, std::max(done, total_));
    });
  }

  void block(core::BlockKey key, BytesView bytes) {
    const auto at = logs_.find(key.log_id());
    if (at == logs_.end()) {
      fault(fmt::format("a block of log number {} at offset {}: there is no such log", key.log_id(),
                        key.first().value));
      return;
    }
    Log& log = at->second;
    if (!std::exchange(log.begun, true)) log.oldest = key.first();
    const auto header = core::open_block(key, bytes);
    if (!header) {
      fault(block_error(log.name.home, log.name.log, key, header.error()).message);
      log.newest.reset();  // what it held is not known, so the next cannot be compared with it
      return;
    }
    if (log.newest) compare(log, key, *header);
    log.newest = key;
    log.header = *header;
    records(log, key, *header, bytes.substr(core::kBlockHeaderBytes));
  }

  void compare(const Log& log, core::BlockKey key, const core::BlockHeader& header) {
    const LogState before = log.header.state(*log.newest);
    if (before.tail != key.first()) {
      fault(fmt::format("log '{}' of '{}': records {} to {} are missing",
                        core::printable(log.name.log), core::printable(log.name.home),
                        before.tail.value, key.first().value));
    }
    if (before.bytes != header.bytes_before) {
      fault(
          fmt::format("log '{}' of '{}': {} bytes are counted before offset {}, but {} were there",
                      core::printable(log.name.log), core::printable(log.name.home),
                      header.bytes_before, key.first().value, before.bytes));
    }
  }

  void records(const Log& log, core::BlockKey key, const core::BlockHeader& header,
               BytesView body) {
    if (header.sealed) {
      raw_.resize(header.raw_bytes);
      if (!decompressor_.decompress(body, raw_.data(), raw_.size())) {
        fault(block_error(log.name.home, log.name.log, key, {.what = "it does not decompress"})
                  .message);
        return;
      }
      body = raw_;
    }
    records_.clear();
    core::ReadBudget budget{.records = header.count, .bytes = header.payload_bytes};
    const auto decoded = core::decode_records(key, header, body, key.first(), budget, records_);
    if (!decoded) {
      fault(block_error(log.name.home, log.name.log, key, decoded.error()).message);
      return;
    }
    report_.records += records_.size();
  }

  void finish_log(const Log& log) {
    const std::string name = fmt::format("log '{}' of '{}'", core::printable(log.name.log),
                                         core::printable(log.name.home));
    if (!log.newest) {
      fault(name + ": its newest block is missing or damaged");
      return;
    }
    const LogState state = log.header.state(*log.newest);
    if (log.header.sealed) fault(name + ": its newest block is sealed");
    if (state.first > state.tail || state.first < log.oldest) {
      fault(fmt::format("{}: it begins at offset {}, but its blocks hold {} to {}", name,
                        state.first.value, log.oldest.value, state.tail.value));
    } else {
      report_.records -= state.first - log.oldest;  // trimmed, but in a block that is still there
    }
  }

  Result<void> rows() {
    return each("SELECT space, key, home, version, checksum, value FROM rows",
                [&](const Statement& row) {
                  ++report_.rows;
                  const std::uint64_t expected =
                      row_checksum(row.column_bytes(0), row.column_bytes(1), row.column_bytes(2),
                                   row.column_key(3), row.column_bytes(5));
                  if (expected != row.column_key(4)) {
                    fault(row_error(row.column_bytes(0), row.column_bytes(1)).message);
                  }
                });
  }

  Connection& connection_;
  const Progress& progress_;
  CheckReport report_;
  std::uint64_t total_ = 0;
  std::map<std::uint64_t, Log> logs_;
  Decompressor decompressor_;
  std::string raw_;
  std::vector<Record> records_;
};

}  // namespace

Result<CheckReport> check_store(Connection& connection, const Progress& progress) {
  return Checker{connection, progress}.run();
}

}  // namespace holdfast::store
