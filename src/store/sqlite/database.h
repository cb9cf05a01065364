// SQLite, wrapped thin: a connection, a prepared statement, and errors that a person can act on.
//
// Invariants
//   - One thread at a time uses a connection and its statements (SQLite's own mutexes are off).
//   - A statement ends its use (reset) before its connection closes.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <holdfast/bytes.h>
#include <holdfast/result.h>

namespace holdfast::store {

/// The error for an SQLite result code. `doing` says what was being done: "commit to 'a.db'".
[[nodiscard]] Error sqlite_error(int code, std::string_view detail, std::string_view doing);
/// Whether a result code says that the kernel could not make written bytes durable.
[[nodiscard]] bool is_sync_failure(int code) noexcept;

/// A connection to one database file.
class Connection {
 public:
  Connection() = default;
  /// Opens a file; makes it if `create`.
  [[nodiscard]] static Result<Connection> open(const std::string& path, bool create,
                                               const std::string& vfs);

  [[nodiscard]] sqlite3* get() const { return db_.get(); }
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Runs statements that give nothing back.
  [[nodiscard]] Result<void> execute(const char* sql);
  /// The first column of the first row, as a number; 0 without rows.
  [[nodiscard]] Result<std::int64_t> number(const char* sql);
  /// The same as text.
  [[nodiscard]] Result<std::string> text(const char* sql);
  /// The error of the last call.
  [[nodiscard]] Error error(std::string_view doing) const;
  [[nodiscard]] int error_code() const { return sqlite3_extended_errcode(db_.get()); }
  /// Undoes the open transaction, if there is one.
  void rollback() noexcept;
  /// Changes whenever anyone, this connection too, commits. Ask inside a transaction.
  [[nodiscard]] std::uint32_t data_version() const;

 private:
  template <typename Take>
  Result<void> first_row(const char* sql, Take take);

  struct Close {
    void operator()(sqlite3* db) const noexcept { sqlite3_close(db); }
  };
  std::unique_ptr<sqlite3, Close> db_;
  std::string path_;
};

/// A prepared statement that is used again and again.
class Statement {
 public:
  Statement() = default;
  [[nodiscard]] static Result<Statement> prepare(const Connection& connection, const char* sql);

  /// Binds parameter `index`, from 1. Bound bytes must live until reset().
  void bind(int index, std::int64_t value);
  void bind_key(int index, std::uint64_t value) { bind(index, static_cast<std::int64_t>(value)); }
  void bind_text(int index, std::string_view text);
  void bind_blob(int index, BytesView bytes);

  /// SQLITE_ROW, SQLITE_DONE or an error code.
  [[nodiscard]] int step() { return sqlite3_step(stmt_.get()); }
  /// Steps once and resets; true if it ran to its end.
  [[nodiscard]] bool run();
  void reset() { sqlite3_reset(stmt_.get()); }

  [[nodiscard]] std::int64_t column(int index) const {
    return sqlite3_column_int64(stmt_.get(), index);
  }
  [[nodiscard]] std::uint64_t column_key(int index) const {
    return static_cast<std::uint64_t>(column(index));
  }
  /// Valid until the next step or reset.
  [[nodiscard]] BytesView column_bytes(int index) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* stmt) const noexcept { sqlite3_finalize(stmt); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> stmt_;
};

/// Resets a statement when a scope ends.
class Using {
 public:
  explicit Using(Statement& statement) : statement_{statement} {}
  Using(const Using&) = delete;
  Using& operator=(const Using&) = delete;
  ~Using() { statement_.reset(); }

 private:
  Statement& statement_;
};

}  // namespace holdfast::store
