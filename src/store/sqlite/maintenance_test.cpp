// Sealing, compacting, checking, copying: the same records before and after, and every fault named.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "store/sqlite/store_testing.h"

namespace holdfast::store {
namespace {

using namespace testing;

TEST(Sealing, ReadersSeeTheSameRecordsBeforeAndAfter) {
  const StoreDirectory directory;
  auto store = directory.open({.background_seal = false});
  create(*store);
  fill(*store, 20'000, 100);
  const auto before = read_all(*store);
  const LogState state = ok(store->tail(kLog));
  const SealReport report = ok(store->seal());
  EXPECT_EQ(report.logs, 1u);
  EXPECT_GT(report.records, 19'000u);
  EXPECT_LT(report.bytes_after, report.bytes_before / 3);
  EXPECT_EQ(read_all(*store), before);
  EXPECT_EQ(ok(store->tail(kLog)).bytes, state.bytes);
  // From within, in small pages.
  for (const std::uint64_t from : {1u, 7'777u, 19'998u}) {
    const Records page = ok(store->read(kLog, {from}, {.records_max = 3}));
    ASSERT_FALSE(page.items.empty());
    for (const Record& record : page.items) EXPECT_EQ(record.bytes, before[record.offset.value]);
  }
  EXPECT_EQ(ok(store->seal()).records, 0u) << "there is nothing left to seal";
  append(*store, {"more"});
  EXPECT_EQ(ok(store->tail(kLog)).tail, Offset{20'001});
  EXPECT_TRUE(ok(store->check()).faults.empty());
}

TEST(Sealing, GoesOnWhereItStoppedAndJoinsSmallSegments) {
  const StoreDirectory directory;
  auto store = directory.open({.background_seal = false});
  create(*store);
  for (int round = 0; round < 8; ++round) {
    fill(*store, 1'000, 100);
    ok(store->seal());
  }
  EXPECT_EQ(read_all(*store).size(), 8'000u);
  EXPECT_LE(std::stoi(directory.sql("SELECT count(*) FROM blocks")), 6);
  EXPECT_TRUE(ok(store->check()).faults.empty());
}

TEST(Sealing, RunsBesideAppendsTrimsAndReads) {
  const StoreDirectory directory;
  auto store = directory.open({.background_seal = true, .seal_after_bytes = 16'384});
  create(*store);
  std::atomic<bool> over{false};
  std::thread reader{[&] {
    while (!over) {
      const Offset first = ok(store->tail(kLog)).first;
      const auto page = store->read(kLog, first);
      if (!page) {
        EXPECT_EQ(page.error().code, ErrorCode::kGone);  // trimmed since
        continue;
      }
      for (const Record& record : page->items) {
        ASSERT_EQ(record.bytes, "record number " + std::to_string(record.offset.value % 1'000));
      }
    }
  }};
  for (int round = 0; round < 20; ++round) {
    fill(*store, 1'000, 20);
    if (round % 4 == 3) {
      ok(store->commit({.home = kLog.home,
                        .trims = {{.log = kLog.log,
                                   .before = {static_cast<std::uint64_t>(round) * 1'000 - 500}}}}));
    }
    if (round % 5 == 0) ok(store->seal());
  }
  over = true;
  reader.join();
  EXPECT_EQ(ok(store->tail(kLog)).tail, Offset{20'000});
  EXPECT_EQ(read_all(*store, kLog, ok(store->tail(kLog)).first).size(), 20'000u - 18'500u);
  EXPECT_TRUE(ok(store->check()).faults.empty());
}

TEST(Sealing, TrimsAndLocatesWithinASealedBlock) {
  const StoreDirectory directory;
  auto store = directory.open({.background_seal = false});
  create(*store);
  fill(*store, 10'000, 100);
  ok(store->seal());
  const Offset cut = ok(store->locate_bytes(kLog, 50'000));
  std::uint64_t kept = 0;
  for (const auto& text : read_all(*store, kLog, cut)) kept += text.size();
  EXPECT_GE(kept, 50'000u);
  EXPECT_LT(kept, 50'000u + 20);
  ok(store->commit({.home = kLog.home, .trims = {{.log = kLog.log, .before = cut}}}));
  EXPECT_EQ(ok(store->tail(kLog)).first, cut);
  EXPECT_EQ(store->read(kLog, {0}).error().actual, cut.value);
  EXPECT_EQ(read_all(*store, kLog, cut).size(), 10'000 - cut.value);
  const CheckReport report = ok(store->check());
  EXPECT_TRUE(report.faults.empty());
  EXPECT_EQ(report.records, 10'000 - cut.value);
}

TEST(Compacting, GivesFreeSpaceBack) {
  const StoreDirectory directory;
  auto store = directory.open({.background_seal = false});
  create(*store);
  fill(*store, 20'000, 100);
  ok(store->seal());
  ok(store->compact());
  const StoreInfo info = ok(store->info());
  EXPECT_EQ(info.free_bytes, 0u);
  EXPECT_EQ(info.wal_bytes, 0u);
  EXPECT_EQ(info.logs, 1u);
  EXPECT_LT(info.file_bytes, 200'000u);
  EXPECT_EQ(read_all(*store).size(), 20'000u);
}

TEST(Backup, IsAConsistentCopyMadeWhileTheStoreIsWritten) {
  const StoreDirectory directory;
  auto store = directory.open();
  create(*store);
  fill(*store, 5'000, 100);
  std::atomic<bool> over{false};
  std::thread writer{[&] {
    while (!over) append(*store, {"written during the backup"});
  }};
  std::uint64_t last_total = 0;
  ok(store->backup(directory.file("copy.db"), [&](std::uint64_t done, std::uint64_t total) {
    EXPECT_LE(done, total);
    last_total = total;
  }));
  over = true;
  writer.join();
  EXPECT_GT(last_total, 0u);
  EXPECT_EQ(store->backup(directory.file("copy.db")).error().code, ErrorCode::kAlreadyExists);
  auto copy = ok(open_sqlite_store(directory.file("copy.db"), {.must_exist = true}));
  EXPECT_TRUE(ok(copy->check()).faults.empty());
  const auto all = read_all(*copy);
  ASSERT_GE(all.size(), 5'000u);
  for (std::size_t i = 0; i < 5'000; ++i) ASSERT_EQ(all[i], "record number " + std::to_string(i));
}

// --- Damage
// ---------------------------------------------------------------------------------------

// Flips a bit of the n-th byte of some text inside a block or row.
void damage(const StoreDirectory& directory, const std::string& table, const std::string& column,
            const std::string& text) {
  (void)directory.sql("UPDATE " + table + " SET " + column + " = CAST(substr(" + column +
                      ", 1, instr(" + column + ", CAST('" + text +
                      "' AS BLOB)) - 1) || CAST('?' AS BLOB) || substr(" + column + ", instr(" +
                      column + ", CAST('" + text + "' AS BLOB)) + 1) AS BLOB) WHERE instr(" +
                      column + ", CAST('" + text + "' AS BLOB)) > 0");
}

TEST(Damage, E2_ADamagedRecordIsNamedAndNotServed) {
  const StoreDirectory directory;
  {
    auto store = directory.open({.background_seal = false});
    create(*store);
    fill(*store, 1'000, 10);
  }
  damage(directory, "blocks", "data", "record number 567");
  auto store = directory.open();
  const auto read = store->read(kLog, {560}, {.records_max = 20});
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(read.error().actual, 567u);
  EXPECT_NE(read.error().message.find("record 567"), std::string::npos) << read.error().message;
  EXPECT_NE(read.error().message.find("log"), std::string::npos);
  EXPECT_TRUE(store->read(kLog, {0}, {.records_max = 20}).has_value()) << "the rest can be read";
  const CheckReport report = ok(store->check());
  ASSERT_EQ(report.faults.size(), 1u);
  EXPECT_NE(report.faults[0].find("record 567"), std::string::npos);
}

TEST(Damage, E2_ADamagedSealedBlockIsNamedAndNotServed) {
  const StoreDirectory directory;
  {
    auto store = directory.open({.background_seal = false});
    create(*store);
    fill(*store, 10'000, 100);
    ok(store->seal());
  }
  const std::string key = directory.sql("SELECT min(key) FROM blocks");
  (void)directory.sql(
      "UPDATE blocks SET data = CAST(substr(data, 1, 200) || X'00' || "
      "substr(data, 202) AS BLOB) WHERE key=" +
      key);
  auto store = directory.open();
  const auto read = store->read(kLog, {5});
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
  EXPECT_NE(read.error().message.find("offset 0"), std::string::npos) << read.error().message;
  EXPECT_EQ(ok(store->check()).faults.size(), 1u);
}

TEST(Damage, E2_ADamagedTailBlockTakesNoAppends) {
  const StoreDirectory directory;
  {
    auto store = directory.open();
    create(*store);
    append(*store, {"good", "bad"});
  }
  damage(directory, "blocks", "data", "bad");
  auto store = directory.open();
  EXPECT_EQ(store->tail(kLog).error().code, ErrorCode::kCorrupt);
  const LogAppend more{.log = kLog.log, .records = {"more"}};
  EXPECT_EQ(store->commit({.home = kLog.home, .appends = {more}}).error().code,
            ErrorCode::kCorrupt);
}

TEST(Damage, E2_ADamagedRowIsNamedAndNotServed) {
  const StoreDirectory directory;
  {
    auto store = directory.open();
    ok(store->commit({.home = "h", .puts = {{.space = "s", .key = "k", .value = "the value"}}}));
  }
  damage(directory, "rows", "value", "the value");
  auto store = directory.open();
  EXPECT_EQ(store->get("s", "k").error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(store->scan("s", {}, 10).error().code, ErrorCode::kCorrupt);
  const CheckReport report = ok(store->check());
  ASSERT_EQ(report.faults.size(), 1u);
  EXPECT_NE(report.faults[0].find("'k'"), std::string::npos);
}

TEST(Damage, ABlockThatIsMissingIsNoticed) {
  const StoreDirectory directory;
  {
    auto store = directory.open({.background_seal = false});
    create(*store);
    fill(*store, 2'000, 10);
  }
  (void)directory.sql(
      "DELETE FROM blocks WHERE key=(SELECT key FROM blocks ORDER BY key LIMIT 1 "
      "OFFSET 3)");
  auto store = directory.open();
  bool noticed = false;
  for (Offset at{}; !noticed;) {
    const auto page = store->read(kLog, at, {.records_max = 100});
    if (!page) {
      EXPECT_EQ(page.error().code, ErrorCode::kCorrupt);
      noticed = true;
      break;
    }
    ASSERT_FALSE(page->at_tail);
    at = page->next;
  }
  EXPECT_TRUE(noticed);
  EXPECT_FALSE(ok(store->check()).faults.empty());
}

}  // namespace
}  // namespace holdfast::store
