// The SQLite store as a whole: opening it, and handing each verb to the part that does it.
#include <holdfast/sqlite_store.h>

#include <algorithm>
#include <chrono>

#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "store/sqlite/bell.h"
#include "store/sqlite/bell_watcher.h"
#include "store/sqlite/checkpointer.h"
#include "store/sqlite/database.h"
#include "store/sqlite/maintenance.h"
#include "store/sqlite/reader.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/sealer.h"
#include "store/sqlite/writer.h"

namespace holdfast::store {
namespace {

constexpr int kReadBusyMs = 10'000;
// How long a commit waits for readers of old pages when the write-ahead log is over its cap.
constexpr std::chrono::milliseconds kHoldBackMax{200};

class SqliteStoreImpl final : public SqliteStore {
 public:
  SqliteStoreImpl(std::string path, const SqliteOptions& options)
      : path_{std::move(path)}, options_{options} {}

  ~SqliteStoreImpl() override {
    if (sealer_) sealer_->stop();
    if (!writer_) return;
    writer_->end();  // what is still queued uses all of the below
    if (writer_->stopped()) keep_wal();
  }

  Result<void> open() {
    auto connection = open_writer();
    if (!connection) return fail(std::move(connection.error()));
    auto bell = Bell::open(path_);
    if (!bell) return fail(std::move(bell.error()));
    bell_ = std::move(*bell);
    watcher_ = std::make_unique<BellWatcher>(
        *bell_,
        BellWatcherOptions{.changed_elsewhere = [this] { return committed_since_asked(); }});
    pool_ = std::make_unique<ReaderPool>([this]() -> Result<std::unique_ptr<Reader>> {
      auto opened = connect();
      if (!opened) return fail(std::move(opened.error()));
      return Reader::make(std::move(*opened), ids_, counters_);
    });
    checkpointer_ = std::make_unique<Checkpointer>(
        Checkpointer::Setup{.checkpoint_bytes = options_.wal_checkpoint_bytes,
                            .bytes_max = options_.wal_bytes_max,
                            .open = [this] { return connect(); },
                            .bell = *bell_,
                            .counters = counters_,
                            .sync_failed = [this] { writer_->stop(); }});
    checkpointer_->attach(*connection);
    return start_writer(std::move(*connection));
  }

  Result<Committed> commit(const Batch& batch) override { return writer_->commit(batch); }
  void commit_async(Batch batch, CommitCallback done) override {
    writer_->commit_async(std::move(batch), std::move(done));
  }

  Result<Records> read(const LogKey& log, Offset from, const ReadLimits& limits) override {
    return with_reader([&](Reader& reader) { return reader.read(log, from, limits); });
  }
  Result<LogState> tail(const LogKey& log) override {
    return with_reader([&](Reader& reader) { return reader.tail(log); });
  }
  Result<std::optional<Row>> get(std::string_view space, std::string_view key) override {
    return with_reader([&](Reader& reader) { return reader.get(space, key); });
  }
  Result<std::vector<Row>> scan(std::string_view space, const KeyRange& range,
                                std::size_t limit) override {
    return with_reader([&](Reader& reader) { return reader.scan(space, range, limit); });
  }
  Result<Offset> locate_time(const LogKey& log, Timestamp cutoff) override {
    return with_reader([&](Reader& reader) { return reader.locate_time(log, cutoff); });
  }
  Result<Offset> locate_bytes(const LogKey& log, std::uint64_t bytes) override {
    return with_reader([&](Reader& reader) { return reader.locate_bytes(log, bytes); });
  }
  Result<std::vector<LogKey>> logs(const LogKey& after, std::size_t limit) override {
    return with_reader([&](Reader& reader) { return reader.logs(after, limit); });
  }

  Result<Watch> watch(const LogKey& log, WatchCallback changed) override {
    return watcher_->watch(bell_slot(log), std::move(changed));
  }
  Result<Watch> watch_space(std::string_view space, WatchCallback changed) override {
    return watcher_->watch(bell_slot_of_space(space), std::move(changed));
  }

  [[nodiscard]] StoreStats stats() const override {
    StoreStats stats = counters_.stats();
    const BellWatcherStats watching = watcher_->stats();
    stats.wakes = watching.callbacks;
    stats.watcher_wakeups = watching.wakeups;
    return stats;
  }

  Result<SealReport> seal(const Progress& progress) override;
  Result<void> compact(const Progress& progress) override {
    return compact_store(*writer_, progress);
  }
  Result<CheckReport> check(const Progress& progress) override {
    auto connection = connect();
    if (!connection) return fail(std::move(connection.error()));
    return check_store(*connection, progress);
  }
  Result<void> backup(const std::string& path, const Progress& progress) override {
    auto connection = connect();
    if (!connection) return fail(std::move(connection.error()));
    return backup_store(*connection, path, progress);
  }
  Result<StoreInfo> info() override {
    auto connection = connect();
    if (!connection) return fail(std::move(connection.error()));
    return store_info(*connection);
  }

 private:
  template <typename Call>
  auto with_reader(Call call) -> decltype(call(std::declval<Reader&>())) {
    auto loan = pool_->lend();
    if (!loan) return fail(std::move(loan.error()));
    return call(**loan);
  }

  Result<Connection> connect() {
    auto connection = Connection::open(path_, false, options_.vfs);
    if (!connection) return connection;
    sqlite3_busy_timeout(connection->get(), kReadBusyMs);
    if (auto ok = configure(*connection, options_.durability == Durability::kFull); !ok) {
      return fail(std::move(ok.error()));
    }
    return connection;
  }

  Result<Connection> open_writer() {
    auto connection = Connection::open(path_, !options_.must_exist, options_.vfs);
    if (!connection) return connection;
    sqlite3_busy_timeout(connection->get(), kReadBusyMs);
    if (auto ok = configure(*connection, options_.durability == Durability::kFull); !ok) {
      return fail(std::move(ok.error()));
    }
    if (auto ok = migrate(*connection); !ok) return fail(std::move(ok.error()));
    const std::string limit =
        fmt::format("PRAGMA journal_size_limit={}", 2 * options_.wal_checkpoint_bytes);
    if (auto ok = connection->execute(limit.c_str()); !ok) return fail(std::move(ok.error()));
    if (options_.durability == Durability::kFull) {
      if (auto ok = settle_wal(*connection); !ok) return fail(std::move(ok.error()));
    }
    return connection;
  }

  // What another process wrote and did not live to sync can be read already: it is made durable
  // before it is shown. To sync the write-ahead log again would not do after a sync that failed,
  // for the kernel then takes the lost pages for written: they are copied into the file. Where
  // others are at work that may not be possible; but then they have not stopped.
  Result<void> settle_wal(Connection& connection) {
    if (auto ok = connection.number("SELECT count(*) FROM counters"); !ok) return fail(ok.error());
    sqlite3_file* wal = nullptr;
    sqlite3_file_control(connection.get(), "main", SQLITE_FCNTL_JOURNAL_POINTER, &wal);
    if (wal == nullptr || wal->pMethods == nullptr) return {};
    sqlite3_int64 bytes = 0;
    if (wal->pMethods->xFileSize(wal, &bytes) == SQLITE_OK && bytes == 0) return {};
    sqlite3_busy_timeout(connection.get(), 0);
    int rc = sqlite3_wal_checkpoint_v2(connection.get(), "main", SQLITE_CHECKPOINT_TRUNCATE,
                                       nullptr, nullptr);
    sqlite3_busy_timeout(connection.get(), kReadBusyMs);
    if (rc != SQLITE_OK && !is_sync_failure(rc)) {
      rc = wal->pMethods->xSync(wal, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY);
    }
    if (rc != SQLITE_OK) {
      return fail(sqlite_error(rc, sqlite3_errstr(rc), fmt::format("sync '{}'", path_)));
    }
    Counters::add(counters_.syncs);
    return {};
  }

  Result<void> start_writer(Connection connection) {
    const bool full = options_.durability == Durability::kFull;
    Writer::Setup setup{
        .connection = std::move(connection),
        .ids = ids_,
        .counters = counters_,
        .clock = *options_.clock,
        .bell = *bell_,
        .growth_bytes = options_.seal_after_bytes,
        .committed =
            [this, full](std::span<const Batch* const> batches) {
              if (full) Counters::add(counters_.syncs);
              ring(batches);
            },
        .before =
            [this] {
              bell_->register_writer();
              if (!checkpointer_->over_cap()) return;
              writer_->wait_at_most(kHoldBackMax);
              checkpointer_->hold_back(writer_->connection());
            },
    };
    if (options_.background_seal) {
      setup.grown = [this](std::uint64_t id) { sealer_->want(id); };
    }
    auto writer = Writer::make(std::move(setup));
    if (!writer) return fail(std::move(writer.error()));
    writer_ = std::move(*writer);
    sealer_ = std::make_unique<BackgroundSealer>([this] { return make_sealer(); });
    return {};
  }

  Result<std::unique_ptr<LogSealer>> make_sealer() {
    auto connection = connect();
    if (!connection) return fail(std::move(connection.error()));
    return LogSealer::make(std::move(*connection), *writer_);
  }

  // On the bell's guarding thread, and only while a writer lives whose death nobody would notice.
  bool committed_since_asked() {
    if (!asked_) {
      auto connection = connect();
      if (!connection) return true;
      asked_ = std::move(*connection);
    }
    const auto version = asked_->number("PRAGMA data_version");
    return !version || std::exchange(version_asked_, *version) != *version;
  }

  void ring(std::span<const Batch* const> batches) {
    slots_.clear();
    for (const Batch* batch : batches) {
      const auto add_logs = [&](const auto& list) {
        for (const auto& part : list) slots_.push_back(bell_slot_of_log(batch->home, part.log));
      };
      const auto add_spaces = [&](const auto& list) {
        for (const auto& part : list) slots_.push_back(bell_slot_of_space(part.space));
      };
      add_logs(batch->creates);
      add_logs(batch->appends);
      add_logs(batch->trims);
      add_logs(batch->removes);
      add_spaces(batch->puts);
      add_spaces(batch->deletes);
    }
    std::ranges::sort(slots_);
    slots_.erase(std::ranges::unique(slots_).begin(), slots_.end());
    bell_->ring(slots_);
  }

  // After a failed sync nothing more may be moved from the write-ahead log into the file.
  void keep_wal() {
    sqlite3_db_config(writer_->connection().get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  }

  const std::string path_;
  const SqliteOptions options_;
  Counters counters_;
  LogIds ids_;
  std::vector<BellSlot> slots_;  // the leader's own
  // Each uses those before it, and is destroyed before them.
  std::unique_ptr<Bell> bell_;
  std::optional<Connection> asked_;  // the guarding thread's own
  std::int64_t version_asked_ = 0;
  std::unique_ptr<BellWatcher> watcher_;
  std::unique_ptr<ReaderPool> pool_;
  std::unique_ptr<Checkpointer> checkpointer_;
  std::unique_ptr<Writer> writer_;
  std::unique_ptr<BackgroundSealer> sealer_;
};

Result<SealReport> SqliteStoreImpl::seal(const Progress& progress) {
  auto sealer = make_sealer();
  if (!sealer) return fail(std::move(sealer.error()));
  const auto blocks = (*sealer)->connection().number("SELECT count(*) FROM blocks");
  if (!blocks) return fail(blocks.error());
  const auto total = static_cast<std::uint64_t>(*blocks);
  std::uint64_t done = 0;
  const auto looked = [&](std::uint64_t count) {
    done += count;
    if (progress && done % 64 == 0) progress(done, std::max(done, total));
  };
  SealReport report;
  for (std::uint64_t after = 0;;) {
    auto ids = (*sealer)->logs_after(after);
    if (!ids) return fail(std::move(ids.error()));
    if (ids->empty()) break;
    for (const std::uint64_t id : *ids) {
      auto ok =
          (*sealer)->seal(id, LogSealer::Extent::kEverything, report, looked, [] { return false; });
      if (!ok) return fail(std::move(ok.error()));
    }
    after = ids->back();
  }
  if (progress) progress(std::max(done, total), std::max(done, total));
  return report;
}

// Says what is wrong with a path before SQLite says less of it.
Result<std::string> find_file(const std::string& path, const SqliteOptions& options) {
  if (path.empty() || path.find('\0') != std::string::npos) {
    return fail(ErrorCode::kInvalidArgument, "a store needs a path: give the name of its file");
  }
  if (!options.vfs.empty()) return path;
  namespace fs = std::filesystem;
  std::error_code error;
  std::string file =
      fs::is_directory(path, error) ? (fs::path{path} / "holdfast.db").string() : path;
  const fs::path parent = fs::absolute(file, error).parent_path();
  if (!fs::is_directory(parent, error)) {
    return fail(options.must_exist ? ErrorCode::kNotFound : ErrorCode::kIo,
                fmt::format("'{}' cannot hold a store: there is no directory '{}'; make it first",
                            file, parent.string()));
  }
  if (options.must_exist && !fs::exists(file, error)) {
    return fail(ErrorCode::kNotFound, fmt::format("there is no store '{}'", file));
  }
  return file;
}

}  // namespace
}  // namespace holdfast::store

namespace holdfast {

Result<std::unique_ptr<SqliteStore>> open_sqlite_store(const std::string& path,
                                                       const SqliteOptions& options) {
  auto file = store::find_file(path, options);
  if (!file) return fail(std::move(file.error()));
  auto opened = std::make_unique<store::SqliteStoreImpl>(std::move(*file), options);
  if (auto ok = opened->open(); !ok) return fail(std::move(ok.error()));
  return opened;
}

}  // namespace holdfast
