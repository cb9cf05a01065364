// The SQLite store's own: what the common suite (tests/store_suite/) cannot ask of every store.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "store/sqlite/database.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/store_testing.h"

namespace holdfast::store {
namespace {

using namespace testing;

// --- Opening ------------------------------------------------------------------------------------

TEST(SqliteStore, ADirectoryHoldsItsStoreUnderAFixedName) {
  const StoreDirectory directory;
  const std::string inside = std::filesystem::path{directory.file()}.parent_path().string();
  auto store = ok(open_sqlite_store(inside, {.durability = Durability::kRelaxed}));
  create(*store);
  EXPECT_TRUE(std::filesystem::exists(directory.file("holdfast.db")));
}

TEST(SqliteStore, PathsThatCannotBeStoresAreNamed) {
  const StoreDirectory directory;
  const auto no_parent = open_sqlite_store(directory.file("missing/store.db"));
  ASSERT_FALSE(no_parent.has_value());
  EXPECT_EQ(no_parent.error().code, ErrorCode::kIo);
  EXPECT_NE(no_parent.error().message.find("missing"), std::string::npos);

  const auto no_store = open_sqlite_store(directory.file(), {.must_exist = true});
  ASSERT_FALSE(no_store.has_value());
  EXPECT_EQ(no_store.error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(directory.file()));

  EXPECT_EQ(open_sqlite_store("").error().code, ErrorCode::kInvalidArgument);
}

TEST(SqliteStore, AFileThatIsNoDatabaseIsRefusedAndKept) {
  const StoreDirectory directory;
  const std::string text(5'000, 'x');
  std::ofstream{directory.file()} << text;
  const auto opened = open_sqlite_store(directory.file());
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, ErrorCode::kCorrupt);
  std::ifstream in{directory.file()};
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>{in}, {}), text);
}

TEST(SqliteStore, ADatabaseOfSomebodyElseIsRefused) {
  const StoreDirectory directory;
  (void)directory.sql("CREATE TABLE theirs(a); INSERT INTO theirs VALUES(1)");
  const auto opened = open_sqlite_store(directory.file());
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, ErrorCode::kCorrupt);
  EXPECT_NE(opened.error().message.find("not a Holdfast store"), std::string::npos);
  EXPECT_EQ(directory.sql("SELECT a FROM theirs"), "1");
}

TEST(SqliteStore, AFileOfANewerProgramIsRefused) {
  const StoreDirectory directory;
  create(*directory.open());
  (void)directory.sql("PRAGMA user_version=99");
  const auto opened = open_sqlite_store(directory.file());
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, ErrorCode::kSchema);
  EXPECT_EQ(opened.error().actual, 99u);
}

TEST(SqliteStore, ANewerProgramUpgradesAnOlderFileAndTheOlderOneThenRefusesIt) {
  const StoreDirectory directory;
  {
    auto store = directory.open();
    create(*store);
    append(*store, {"kept"});
  }
  std::vector<const char*> newer{schema_migrations().begin(), schema_migrations().end()};
  newer.push_back("CREATE TABLE added(a); INSERT INTO added VALUES(7)");
  {
    auto connection = ok(Connection::open(directory.file(), false, {}));
    ok(migrate(connection, newer));
    EXPECT_EQ(ok(connection.number("SELECT a FROM added")), 7);
    ok(migrate(connection, newer));  // a second time it has nothing to do
  }
  EXPECT_EQ(open_sqlite_store(directory.file()).error().code, ErrorCode::kSchema);
}

TEST(SqliteStore, AnUpgradeThatFailsLeavesTheOlderFile) {
  const StoreDirectory directory;
  {
    auto store = directory.open();
    create(*store);
    append(*store, {"kept"});
  }
  std::vector<const char*> newer{schema_migrations().begin(), schema_migrations().end()};
  newer.push_back("CREATE TABLE added(a); DROP TABLE nothing_of_that_name");
  {
    auto connection = ok(Connection::open(directory.file(), false, {}));
    EXPECT_FALSE(migrate(connection, newer).has_value());
  }
  EXPECT_EQ(read_all(*directory.open()), std::vector<std::string>{"kept"});
  EXPECT_EQ(directory.sql("SELECT count(*) FROM sqlite_schema WHERE name='added'"), "0");
}

TEST(SqliteStore, ManyThatMakeOneFileAtOnceAllGetIt) {
  const StoreDirectory directory;
  std::atomic<int> opened{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back(
        [&] { opened += open_sqlite_store(directory.file()).has_value() ? 1 : 0; });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(opened, 4);
}

// --- What another object on the same file does
// ----------------------------------------------------

TEST(SqliteStore, WhatIsRememberedOfALogIsNotBelievedAfterAnotherHasWritten) {
  const StoreDirectory directory;
  auto ours = directory.open();
  auto theirs = directory.open();
  create(*ours);
  for (int i = 0; i < 50; ++i) {
    append(*ours, {"ours"});
    append(*theirs, {"theirs", "theirs"});
    EXPECT_EQ(ok(ours->tail(kLog)).tail, Offset{static_cast<std::uint64_t>(3 * (i + 1))});
  }
  const auto all = read_all(*ours);
  ASSERT_EQ(all.size(), 150u);
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], i % 3 == 0 ? "ours" : "theirs");
}

TEST(SqliteStore, ATailIsReadFromTheFileOnlyAfterACommit) {
  const StoreDirectory directory;
  auto ours = directory.open();
  auto theirs = directory.open();
  create(*ours);
  append(*ours, {"x"});
  EXPECT_EQ(ok(ours->tail(kLog)).tail, Offset{1});
  const std::uint64_t before = ours->stats().rows_read;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(ok(ours->tail(kLog)).tail, Offset{1});
  EXPECT_EQ(ours->stats().rows_read, before);
  append(*theirs, {"y"});
  EXPECT_EQ(ok(ours->tail(kLog)).tail, Offset{2});
  EXPECT_EQ(ours->stats().rows_read, before + 1);
}

TEST(SqliteStore, ALogThatAnotherRemovedAndMadeAgainIsTheNewOne) {
  const StoreDirectory directory;
  auto ours = directory.open();
  auto theirs = directory.open();
  for (std::uint64_t round = 0; round < 5; ++round) {
    ok(theirs->commit({.home = kLog.home, .creates = {{.log = kLog.log, .first = {round * 10}}}}));
    append(*ours, {"a", "b"});
    EXPECT_EQ(ok(theirs->tail(kLog)).tail, Offset{round * 10 + 2});
    EXPECT_EQ(ok(ours->tail(kLog)).first, Offset{round * 10});
    ok(theirs->commit({.home = kLog.home, .removes = {{.log = kLog.log}}}));
    EXPECT_EQ(ours->tail(kLog).error().code, ErrorCode::kNotFound);
    const LogAppend more{.log = kLog.log, .records = {"c"}};
    EXPECT_EQ(ours->commit({.home = kLog.home, .appends = {more}}).error().code,
              ErrorCode::kNotFound);
  }
}

TEST(SqliteStore, RowVersionsGrowAcrossDeletesOfAnyObjectAndReopening) {
  const StoreDirectory directory;
  auto ours = directory.open();
  auto theirs = directory.open();
  std::uint64_t last = 0;
  for (int i = 0; i < 20; ++i) {
    Store& writer = i % 2 == 0 ? *ours : *theirs;
    Store& other = i % 2 == 0 ? *theirs : *ours;
    const auto put = ok(writer.commit(
        {.home = "h", .puts = {{.space = "s", .key = "k", .value = std::to_string(i)}}}));
    ASSERT_GT(put.row_versions.at(0), last);
    last = put.row_versions[0];
    ok(other.commit({.home = "h", .deletes = {{.space = "s", .key = "k"}}}));
    if (i == 10) ours = directory.open();
  }
}

// --- Group commit
// ---------------------------------------------------------------------------------

TEST(SqliteStore, LoneCommitsHaveATransactionAndASyncEach) {
  const StoreDirectory directory;
  auto store = directory.open_full();
  create(*store);
  const StoreStats before = store->stats();
  for (int i = 0; i < 20; ++i) append(*store, {"x"});
  const StoreStats after = store->stats();
  EXPECT_EQ(after.commits - before.commits, 20u);
  EXPECT_EQ(after.transactions - before.transactions, 20u);
  EXPECT_EQ(after.syncs - before.syncs, 20u);
}

TEST(SqliteStore, ConcurrentCommitsShareTransactionsAndSyncs) {
  const StoreDirectory directory;
  auto store = directory.open_full();
  constexpr std::size_t kThreads = 16;
  constexpr std::size_t kEach = 20;
  for (std::size_t i = 0; i < kThreads; ++i) create(*store, {"h", std::to_string(i)});
  const StoreStats before = store->stats();
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (std::size_t n = 0; n < kEach; ++n) append(*store, {"x"}, {"h", std::to_string(i)});
    });
  }
  for (auto& thread : threads) thread.join();
  const StoreStats after = store->stats();
  EXPECT_EQ(after.commits - before.commits, kThreads * kEach);
  EXPECT_LT(after.transactions - before.transactions, kThreads * kEach / 2);
  EXPECT_LE(after.syncs - before.syncs, after.transactions - before.transactions + 2);
}

TEST(SqliteStore, ARefusedCommitDoesNotDisturbThoseItSharesATransactionWith) {
  const StoreDirectory directory;
  auto store = directory.open_full();
  create(*store);
  constexpr int kEach = 50;
  std::atomic<int> refused{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int n = 0; n < kEach; ++n) {
        LogAppend part{.log = kLog.log, .records = {"x"}};
        if (i % 2 == 0) part.expected_tail = Offset{1'000'000};
        refused += store->commit({.home = kLog.home, .appends = {part}}) ? 0 : 1;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(refused, 4 * kEach);
  EXPECT_EQ(ok(store->tail(kLog)).tail, Offset{4 * kEach});
}

TEST(SqliteStore, AsynchronousCommitsKeepTheirOrder) {
  const StoreDirectory directory;
  constexpr std::size_t kCount = 500;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < kCount; ++i) texts.push_back(std::to_string(i));
  std::atomic<std::size_t> done{0};
  {
    auto store = directory.open();
    create(*store);
    for (std::size_t i = 0; i < kCount; ++i) {
      const LogAppend part{.log = kLog.log, .records = {texts[i]}};
      store->commit_async({.home = kLog.home, .appends = {part}}, [&, i](Result<Committed> result) {
        EXPECT_EQ(ok(std::move(result)).appends.at(0).first, Offset{i});
        ++done;
      });
    }
  }  // closing waits for them
  EXPECT_EQ(done, kCount);
  EXPECT_EQ(read_all(*directory.open()), texts);
}

// --- Space and the write-ahead log
// ----------------------------------------------------------------

TEST(SqliteStore, TheWriteAheadLogStaysUnderItsCap) {
  const StoreDirectory directory;
  constexpr std::size_t kCap = 1u << 20;
  auto store = directory.open({.wal_checkpoint_bytes = kCap / 4, .wal_bytes_max = kCap});
  create(*store);
  std::uint64_t largest = 0;
  for (int i = 0; i < 2'000; ++i) {
    append(*store, {std::string(3'000, 'x')});
    if (i % 20 == 0) {
      largest =
          std::max<std::uint64_t>(largest, std::filesystem::file_size(directory.file() + "-wal"));
    }
  }
  EXPECT_GT(largest, 0u);
  EXPECT_LE(largest, kCap + kCap / 4);
}

TEST(SqliteStore, LoneAppendsFillPagesInsteadOfMakingRows) {
  const StoreDirectory directory;
  auto store = directory.open();
  create(*store);
  for (int i = 0; i < 400; ++i) append(*store, {std::string(90, 'x')});
  // 95 bytes each on disk, some 42 to a page of 4,096.
  EXPECT_LE(std::stoi(directory.sql("SELECT count(*) FROM blocks")), 10);
}

}  // namespace
}  // namespace holdfast::store
