#include "store/sqlite/schema.h"

#include <array>
#include <chrono>
#include <string>
#include <thread>

#include <fmt/format.h>

namespace holdfast::store {
namespace {

// A block's key and bytes: core/log/block.h. A log's row never changes, and its id is never given
// again, so both may be remembered for ever; a log is there as long as a block of it is.
constexpr std::array kMigrations{
    R"(
      CREATE TABLE logs(
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        home TEXT NOT NULL,
        name TEXT NOT NULL,
        UNIQUE(home, name)) STRICT;
      CREATE TABLE blocks(key INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT;
      CREATE TABLE rows(
        space TEXT NOT NULL,
        key BLOB NOT NULL,
        home TEXT NOT NULL,
        version INTEGER NOT NULL,
        checksum INTEGER NOT NULL,
        value BLOB NOT NULL,
        PRIMARY KEY(space, key)) STRICT, WITHOUT ROWID;
      CREATE TABLE counters(name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
      INSERT INTO counters VALUES('row_version_deleted', 0);
    )",
};

// Switching to WAL needs the file alone for a moment, and SQLite does not call the busy handler for
// it: two programs that make a file at once meet here.
Result<void> switch_to_wal(Connection& connection) {
  constexpr int kAttempts = 2'000;
  for (int attempt = 0;; ++attempt) {
    const auto mode = connection.text("PRAGMA journal_mode=WAL");
    if (mode && *mode == "wal") return {};
    if (mode) {
      return fail(ErrorCode::kIo, fmt::format("'{}' cannot be written ahead (journal mode '{}'): "
                                              "put the store on a local disk",
                                              connection.path(), *mode));
    }
    if (mode.error().code != ErrorCode::kUnavailable || attempt == kAttempts) {
      return fail(mode.error());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
}

Result<void> refuse_strangers_as_seen(Connection& connection, std::int64_t versions) {
  const auto id = connection.number("PRAGMA application_id");
  if (!id) return fail(id.error());
  const auto tables = connection.number("SELECT count(*) FROM sqlite_schema");
  if (!tables) return fail(tables.error());
  const bool fresh = *id == 0 && *tables == 0;
  if (!fresh && *id != kApplicationId) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("'{}' is an SQLite database, but not a Holdfast store (application id "
                            "{}): give another path",
                            connection.path(), *id));
  }
  const auto version = connection.number("PRAGMA user_version");
  if (!version) return fail(version.error());
  if (*version > versions) {
    return fail(
        Error{ErrorCode::kSchema,
              fmt::format("'{}' has schema version {}, and this program knows {}: a newer "
                          "program made it; use that one",
                          connection.path(), *version, versions)}
            .with(static_cast<std::uint64_t>(versions), static_cast<std::uint64_t>(*version)));
  }
  return {};
}

// In one snapshot: another process may be making the file at this moment.
Result<void> refuse_strangers(Connection& connection, std::int64_t versions) {
  if (auto ok = connection.execute("BEGIN"); !ok) return ok;
  auto ok = refuse_strangers_as_seen(connection, versions);
  connection.rollback();
  return ok;
}

Result<void> apply_missing(Connection& connection, std::span<const char* const> migrations) {
  const auto version = connection.number("PRAGMA user_version");
  if (!version) return fail(version.error());
  // Another program may have been faster, and newer.
  if (static_cast<std::size_t>(*version) >= migrations.size()) {
    connection.rollback();
    return refuse_strangers(connection, static_cast<std::int64_t>(migrations.size()));
  }
  for (auto at = static_cast<std::size_t>(*version); at < migrations.size(); ++at) {
    if (auto ok = connection.execute(migrations[at]); !ok) return ok;
  }
  const std::string stamp = fmt::format("PRAGMA application_id={}; PRAGMA user_version={}",
                                        kApplicationId, migrations.size());
  if (auto ok = connection.execute(stamp.c_str()); !ok) return ok;
  return connection.execute("COMMIT");
}

}  // namespace

std::span<const char* const> schema_migrations() { return kMigrations; }

Result<void> configure(Connection& connection, bool full_sync) {
  sqlite3_wal_autocheckpoint(connection.get(), 0);
  // secure_delete: some systems build SQLite with it on, which writes every freed page once more.
  if (auto ok = connection.execute("PRAGMA secure_delete=OFF; PRAGMA temp_store=MEMORY;"
                                   "PRAGMA trusted_schema=OFF");
      !ok) {
    return ok;
  }
  return connection.execute(full_sync ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL");
}

Result<void> migrate(Connection& connection, std::span<const char* const> migrations) {
  const auto versions = static_cast<std::int64_t>(migrations.size());
  if (auto ok = refuse_strangers(connection, versions); !ok) return ok;
  // The first two count only while the file is empty.
  if (auto ok = connection.execute("PRAGMA page_size=4096; PRAGMA auto_vacuum=INCREMENTAL"); !ok) {
    return ok;
  }
  if (auto ok = switch_to_wal(connection); !ok) return ok;
  const auto version = connection.number("PRAGMA user_version");
  if (!version) return fail(version.error());
  if (*version == versions) return {};
  if (auto ok = connection.execute("BEGIN IMMEDIATE"); !ok) return ok;
  if (auto ok = apply_missing(connection, migrations); !ok) {
    connection.rollback();
    return ok;
  }
  return {};
}

}  // namespace holdfast::store
