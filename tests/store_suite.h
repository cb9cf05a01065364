// The one suite that every store passes: each sentence of holdfast/store.h is a test of it
// (tests/store_suite/). A new store joins by adding its kind to store_kinds().
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/store.h>

#include "sim/dump.h"

namespace holdfast::suite {

/// One store made for one test, on a clock that the test moves.
class StoreUnderTest {
 public:
  StoreUnderTest() = default;
  StoreUnderTest(const StoreUnderTest&) = delete;
  StoreUnderTest& operator=(const StoreUnderTest&) = delete;
  virtual ~StoreUnderTest() = default;

  [[nodiscard]] virtual Store& store() = 0;
  /// Another object on the same data, as another process would have one; null where none can be.
  [[nodiscard]] virtual std::unique_ptr<Store> open_another() { return nullptr; }
  /// Closes the store and opens it again; false where nothing outlives it.
  virtual bool reopen() { return false; }
  /// Seals, checks or compacts, by turns. Returns what was found wrong; empty if nothing.
  virtual std::string maintain(std::uint64_t /*turn*/) { return {}; }

  ManualClock clock;
};

struct StoreKind {
  std::string name;
  std::function<std::unique_ptr<StoreUnderTest>()> make;
};
[[nodiscard]] std::vector<StoreKind> store_kinds();

/// The value, or a failed test that says what the error was.
template <typename T>
T ok(Result<T> result, std::source_location where = std::source_location::current()) {
  if (!result) {
    throw std::runtime_error(std::string{where.file_name()} + ":" + std::to_string(where.line()) +
                             ": " + std::string{error_name(result.error().code)} + ": " +
                             result.error().message);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

/// The error, or a failed test.
template <typename T>
Error refused(Result<T> result, ErrorCode code,
              std::source_location where = std::source_location::current()) {
  const std::string place = std::string{where.file_name()} + ":" + std::to_string(where.line());
  if (result) throw std::runtime_error(place + ": expected " + std::string{error_name(code)});
  EXPECT_EQ(error_name(result.error().code), error_name(code))
      << place << ": " << result.error().message;
  EXPECT_FALSE(result.error().message.empty()) << place;
  return std::move(result.error());
}

class StoreSuite : public testing::TestWithParam<StoreKind> {
 protected:
  static constexpr const char* kHome = "stream/a";

  [[nodiscard]] Store& store() { return under_test_->store(); }
  [[nodiscard]] StoreUnderTest& under_test() { return *under_test_; }
  [[nodiscard]] ManualClock& clock() { return under_test_->clock; }

  [[nodiscard]] static LogKey key(std::string log = "log") { return {kHome, std::move(log)}; }

  void create(const std::string& log = "log", Offset first = {}) {
    ok(store().commit({.home = kHome, .creates = {{.log = log, .first = first}}}));
  }
  AppendedRange append(std::vector<BytesView> records, const std::string& log = "log") {
    return ok(store().commit(
                  {.home = kHome, .appends = {{.log = log, .records = std::move(records)}}}))
        .appends.at(0);
  }
  /// A log of `count` records, "0", "1", ...; committed in batches of `per_batch`.
  void fill(std::size_t count, std::size_t per_batch = 100, const std::string& log = "log");

  [[nodiscard]] Result<Committed> commit_append(LogAppend part) {
    Batch batch{.home = kHome};
    batch.appends.push_back(std::move(part));
    return store().commit(batch);
  }
  [[nodiscard]] Result<Committed> commit_trim(Offset before, const std::string& log = "log") {
    return store().commit({.home = kHome, .trims = {{.log = log, .before = before}}});
  }
  std::uint64_t put(const std::string& row, const std::string& value,
                    const std::string& space = "rows") {
    return ok(store().commit(
                  {.home = kHome, .puts = {{.space = space, .key = row, .value = value}}}))
        .row_versions.at(0);
  }
  [[nodiscard]] std::optional<Row> get(const std::string& row, const std::string& space = "rows") {
    return ok(store().get(space, row));
  }
  [[nodiscard]] LogState tail(const std::string& log = "log") { return ok(store().tail(key(log))); }
  [[nodiscard]] std::vector<Bytes> records(const std::string& log = "log", Offset from = {}) {
    auto all = sim::read_all(store(), key(log), from);
    EXPECT_EQ(all.problem, "");
    return std::move(all.records);
  }
  /// All that the store holds, as text.
  [[nodiscard]] std::string dump() {
    const std::vector<std::string> spaces{"rows", "other"};
    return sim::dump(store(), spaces);
  }

 private:
  std::unique_ptr<StoreUnderTest> under_test_ = GetParam().make();
};

}  // namespace holdfast::suite
