#include "store/sqlite/database.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace holdfast::store {

bool is_sync_failure(int code) noexcept {
  return code == SQLITE_IOERR_FSYNC || code == SQLITE_IOERR_DIR_FSYNC;
}

Error sqlite_error(int code, std::string_view detail, std::string_view doing) {
  const auto say = [&](ErrorCode error, std::string_view advice) {
    return Error{error, fmt::format("cannot {}: {} (SQLite {}){}{}", doing, detail, code,
                                    advice.empty() ? "" : ": ", advice)};
  };
  if (is_sync_failure(code)) {
    return say(
        ErrorCode::kStopped,
        "the disk did not confirm a write, so what it holds is not known; check the disk and "
        "reopen the store");
  }
  switch (code & 0xFF) {
    case SQLITE_FULL: return say(ErrorCode::kDiskFull, "free some space and try again");
    case SQLITE_CORRUPT: return say(ErrorCode::kCorrupt, "check the store and restore a backup");
    case SQLITE_NOTADB: return say(ErrorCode::kCorrupt, "this is not a Holdfast store");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      return say(ErrorCode::kUnavailable, "another process holds the store; try again");
    case SQLITE_TOOBIG: return say(ErrorCode::kTooLarge, "");
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return say(ErrorCode::kIo, "see that the file and its directory can be read and written");
    default: return say(ErrorCode::kIo, "");
  }
}

Result<Connection> Connection::open(const std::string& path, bool create, const std::string& vfs) {
  Connection connection;
  connection.path_ = path;
  sqlite3* db = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE |
                    SQLITE_OPEN_EXRESCODE | (create ? SQLITE_OPEN_CREATE : 0);
  const int rc = sqlite3_open_v2(path.c_str(), &db, flags, vfs.empty() ? nullptr : vfs.c_str());
  connection.db_.reset(db);
  if (rc != SQLITE_OK) {
    if (db == nullptr) return fail(sqlite_error(rc, sqlite3_errstr(rc), "open '" + path + "'"));
    return fail(connection.error("open"));
  }
  return connection;
}

Error Connection::error(std::string_view doing) const {
  const int code = error_code();
  const int system = sqlite3_system_errno(db_.get());
  std::string detail = sqlite3_errmsg(db_.get());
  const int primary = code & 0xFF;
  const bool of_system = primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN;
  if (of_system && system != 0) detail += fmt::format(", {}", std::strerror(system));
  const bool full =
      primary == SQLITE_IOERR && (system == ENOSPC || system == EDQUOT) && !is_sync_failure(code);
  return sqlite_error(full ? SQLITE_FULL : code, detail, fmt::format("{} '{}'", doing, path_));
}

Result<void> Connection::execute(const char* sql) {
  if (sqlite3_exec(db_.get(), sql, nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return fail(error("use"));
}

// Runs a statement to its end, for what it does there counts too: a pragma answers before its
// transaction commits. `take` gets the first row.
template <typename Take>
Result<void> Connection::first_row(const char* sql, Take take) {
  auto statement = Statement::prepare(*this, sql);
  if (!statement) return fail(std::move(statement.error()));
  int rc = statement->step();
  if (rc == SQLITE_ROW) {
    take(*statement);
    while (rc == SQLITE_ROW) rc = statement->step();
  }
  if (rc != SQLITE_DONE) return fail(error("use"));
  return {};
}

Result<std::int64_t> Connection::number(const char* sql) {
  std::int64_t value = 0;
  auto ok = first_row(sql, [&](const Statement& row) { value = row.column(0); });
  if (!ok) return fail(std::move(ok.error()));
  return value;
}

Result<std::string> Connection::text(const char* sql) {
  std::string value;
  auto ok = first_row(sql, [&](const Statement& row) { value = row.column_bytes(0); });
  if (!ok) return fail(std::move(ok.error()));
  return value;
}

void Connection::rollback() noexcept {
  if (sqlite3_get_autocommit(db_.get()) != 0) return;  // SQLite has undone it already
  sqlite3_exec(db_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
}

std::uint32_t Connection::data_version() const {
  std::uint32_t version = 0;
  sqlite3_file_control(db_.get(), "main", SQLITE_FCNTL_DATA_VERSION, &version);
  return version;
}

Result<Statement> Statement::prepare(const Connection& connection, const char* sql) {
  Statement statement;
  sqlite3_stmt* raw = nullptr;
  const int rc =
      sqlite3_prepare_v3(connection.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
  if (rc != SQLITE_OK) return fail(connection.error("use"));
  statement.stmt_.reset(raw);
  return statement;
}

void Statement::bind(int index, std::int64_t value) {
  sqlite3_bind_int64(stmt_.get(), index, value);
}

void Statement::bind_text(int index, std::string_view text) {
  sqlite3_bind_text64(stmt_.get(), index, text.data() == nullptr ? "" : text.data(), text.size(),
                      nullptr, SQLITE_UTF8);
}

void Statement::bind_blob(int index, BytesView bytes) {
  sqlite3_bind_blob64(stmt_.get(), index, bytes.data() == nullptr ? "" : bytes.data(), bytes.size(),
                      nullptr);
}

bool Statement::run() {
  const int rc = step();
  reset();
  return rc == SQLITE_DONE || rc == SQLITE_ROW;
}

BytesView Statement::column_bytes(int index) const {
  const void* data = sqlite3_column_blob(stmt_.get(), index);
  const int size = sqlite3_column_bytes(stmt_.get(), index);
  return {data == nullptr ? "" : static_cast<const char*>(data), static_cast<std::size_t>(size)};
}

}  // namespace holdfast::store
