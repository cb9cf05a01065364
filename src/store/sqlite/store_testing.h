// What the store's tests share. Included by tests only.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/sqlite_store.h>

namespace holdfast::store::testing {

inline const LogKey kLog{"stream/a", "log"};

/// The value, or an exception that says what the error was.
template <typename T>
T ok(Result<T> result) {
  if (!result) {
    throw std::runtime_error(std::string{error_name(result.error().code)} + ": " +
                             result.error().message);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

/// A directory with one store in it, opened as often as a test likes.
class StoreDirectory {
 public:
  StoreDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "store_XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
  }
  StoreDirectory(const StoreDirectory&) = delete;
  StoreDirectory& operator=(const StoreDirectory&) = delete;
  ~StoreDirectory() { std::filesystem::remove_all(directory_); }

  [[nodiscard]] std::string file(const std::string& name = "store.db") const {
    return (directory_ / name).string();
  }
  [[nodiscard]] std::unique_ptr<SqliteStore> open(SqliteOptions options = {}) const {
    if (options.durability == Durability::kFull) options.durability = Durability::kRelaxed;
    return ok(open_sqlite_store(file(), options));
  }
  [[nodiscard]] std::unique_ptr<SqliteStore> open_full(SqliteOptions options = {}) const {
    options.durability = Durability::kFull;
    return ok(open_sqlite_store(file(), options));
  }
  /// Runs SQL on the file, beside the store: how a test damages it, or looks inside.
  [[nodiscard]] std::string sql(const std::string& text) const {
    sqlite3* db = nullptr;
    EXPECT_EQ(sqlite3_open(file().c_str(), &db), SQLITE_OK);
    std::string out;
    char* error = nullptr;
    const auto row = [](void* to, int columns, char** values, char**) {
      for (int i = 0; i < columns; ++i) {
        static_cast<std::string*>(to)
            ->append(values[i] == nullptr ? "null" : values[i])
            .append(" ");
      }
      return 0;
    };
    if (sqlite3_exec(db, text.c_str(), row, &out, &error) != SQLITE_OK) {
      ADD_FAILURE() << text << ": " << error;
      sqlite3_free(error);
    }
    sqlite3_close(db);
    if (!out.empty()) out.pop_back();
    return out;
  }

 private:
  std::filesystem::path directory_;
};

inline void create(Store& store, const LogKey& log = kLog) {
  ok(store.commit({.home = log.home, .creates = {{.log = log.log}}}));
}
inline Committed append(Store& store, const std::vector<std::string>& records,
                        const LogKey& log = kLog) {
  LogAppend part{.log = log.log};
  part.records.assign(records.begin(), records.end());
  return ok(store.commit({.home = log.home, .appends = {part}}));
}
/// `count` records "0", "1", … in batches.
inline void fill(Store& store, std::size_t count, std::size_t per_batch, const LogKey& log = kLog) {
  std::vector<std::string> records;
  for (std::size_t i = 0; i < count; ++i) {
    records.push_back("record number " + std::to_string(i));
    if (records.size() == per_batch || i + 1 == count)
      append(store, std::exchange(records, {}), log);
  }
}
/// All that is there, as strings.
inline std::vector<std::string> read_all(Store& store, const LogKey& log = kLog, Offset from = {}) {
  std::vector<std::string> out;
  for (Offset at = from;;) {
    const Records page = ok(store.read(log, at));
    for (const Record& record : page.items) out.emplace_back(record.bytes);
    at = page.next;
    if (page.at_tail) return out;
  }
}

}  // namespace holdfast::store::testing
