// Logs: made, appended to, fenced, closed, trimmed, removed, listed.
#include <gmock/gmock.h>

#include "store_suite.h"

namespace holdfast::suite {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Logs = StoreSuite;

TEST_P(Logs, AreThereOnlyOnceMade) {
  refused(store().tail(key()), ErrorCode::kNotFound);
  refused(store().read(key(), Offset{0}), ErrorCode::kNotFound);
  refused(store().locate_time(key(), {}), ErrorCode::kNotFound);
  refused(store().locate_bytes(key(), 1), ErrorCode::kNotFound);
  refused(commit_append({.log = "log", .records = {"x"}}), ErrorCode::kNotFound);
  refused(commit_trim(Offset{0}), ErrorCode::kNotFound);
  create();
  const LogState made = tail();
  EXPECT_EQ(made.first, Offset{0});
  EXPECT_EQ(made.tail, Offset{0});
  EXPECT_FALSE(made.closed);
  EXPECT_EQ(made.epoch, Epoch{0});
  EXPECT_EQ(made.bytes, 0u);
}

TEST_P(Logs, AreNotMadeTwice) {
  create("log", Offset{5});
  append({"kept"});
  refused(store().commit({.home = kHome, .creates = {{.log = "log"}}}), ErrorCode::kAlreadyExists);
  ok(store().commit({.home = kHome, .creates = {{.log = "log", .if_missing = true}}}));
  EXPECT_EQ(tail().first, Offset{5});
  EXPECT_THAT(records("log", Offset{5}), ElementsAre("kept"));
}

TEST_P(Logs, StartWhereTheyAreAskedTo) {
  create("log", Offset{1'000'000});
  EXPECT_EQ(tail().first, Offset{1'000'000});
  EXPECT_EQ(append({"x"}).first, Offset{1'000'000});
  EXPECT_EQ(refused(store().read(key(), Offset{999'999}), ErrorCode::kGone).actual, 1'000'000u);
}

TEST_P(Logs, GiveDenseOffsets) {
  create();
  std::uint64_t next = 0;
  for (std::size_t size = 0; size < 40; ++size) {
    const std::vector<BytesView> batch(size % 7, "record");
    const AppendedRange range = append(batch);
    EXPECT_EQ(range.first.value, next);
    EXPECT_EQ(range.next.value, next + batch.size());
    next = range.next.value;
  }
  EXPECT_EQ(tail().tail.value, next);
  EXPECT_EQ(tail().bytes, next * 6);
}

TEST_P(Logs, TakeAnExpectedTail) {
  create();
  ok(commit_append({.log = "log", .records = {"a"}, .expected_tail = Offset{0}}));
  const Error stale =
      refused(commit_append({.log = "log", .records = {"b"}, .expected_tail = Offset{0}}),
              ErrorCode::kStale);
  EXPECT_EQ(stale.actual, 1u);
  EXPECT_EQ(stale.remedy, Remedy::kRetry);
  EXPECT_EQ(
      refused(commit_append({.log = "log", .expected_tail = Offset{2}}), ErrorCode::kStale).actual,
      1u);
  ok(commit_append({.log = "log", .expected_tail = Offset{1}}));
  EXPECT_THAT(records(), ElementsAre("a"));
}

TEST_P(Logs, FenceOutLowerEpochs) {
  create();
  ok(commit_append({.log = "log", .records = {"a"}, .epoch = Epoch{3}}));
  EXPECT_EQ(tail().epoch, Epoch{3});
  EXPECT_EQ(
      refused(commit_append({.log = "log", .records = {"b"}, .epoch = Epoch{2}}), ErrorCode::kStale)
          .actual,
      3u);
  ok(commit_append({.log = "log", .records = {"c"}, .epoch = Epoch{3}}));
  ok(commit_append({.log = "log", .records = {"d"}}));
  EXPECT_EQ(tail().epoch, Epoch{3});
  ok(commit_append({.log = "log", .epoch = Epoch{9}}));  // an empty append fences as well
  EXPECT_EQ(tail().epoch, Epoch{9});
  refused(commit_append({.log = "log", .records = {"e"}, .epoch = Epoch{8}}), ErrorCode::kStale);
  EXPECT_THAT(records(), ElementsAre("a", "c", "d"));
  EXPECT_EQ(tail().bytes, 3u);
}

TEST_P(Logs, TakeNothingOnceClosed) {
  create();
  ok(commit_append({.log = "log", .records = {"a", "b"}, .close = true}));
  EXPECT_TRUE(tail().closed);
  EXPECT_EQ(refused(commit_append({.log = "log", .records = {"c"}}), ErrorCode::kClosed).actual,
            2u);
  refused(commit_append({.log = "log"}), ErrorCode::kClosed);
  refused(commit_append({.log = "log", .records = {"c"}, .close = true}), ErrorCode::kClosed);
  const std::string before = dump();
  const Committed again = ok(commit_append({.log = "log", .epoch = Epoch{7}, .close = true}));
  EXPECT_EQ(again.appends.at(0).first, Offset{2});
  EXPECT_EQ(again.appends.at(0).next, Offset{2});
  EXPECT_EQ(dump(), before);  // not even the epoch
  refused(commit_append({.log = "log", .expected_tail = Offset{1}, .close = true}),
          ErrorCode::kStale);
  ok(commit_append({.log = "log", .expected_tail = Offset{2}, .close = true}));
}

TEST_P(Logs, CloseWhileEmpty) {
  create();
  ok(commit_append({.log = "log", .close = true}));
  const Records page = ok(store().read(key(), Offset{0}));
  EXPECT_TRUE(page.items.empty());
  EXPECT_TRUE(page.at_tail);
  EXPECT_TRUE(page.closed);
}

TEST_P(Logs, S15_KeepTheirOffsetsWhenTrimmed) {
  fill(1'000, 7);
  ok(commit_trim(Offset{321}));
  EXPECT_EQ(tail().first, Offset{321});
  EXPECT_EQ(tail().tail, Offset{1'000});
  EXPECT_EQ(tail().bytes, 10u + 180u + 2'700u);  // trimmed ones included
  const auto left = records("log", Offset{321});
  ASSERT_EQ(left.size(), 679u);
  EXPECT_EQ(left.front(), "321");
  EXPECT_EQ(left.back(), "999");
  for (const std::uint64_t gone : {0u, 100u, 320u}) {
    const Error error = refused(store().read(key(), Offset{gone}), ErrorCode::kGone);
    EXPECT_EQ(error.actual, 321u);
    EXPECT_NE(error.message.find("321"), std::string::npos) << error.message;
  }
  EXPECT_EQ(append({"next"}).first, Offset{1'000});
}

TEST_P(Logs, NeverBringTrimmedRecordsBack) {
  fill(100, 10);
  ok(commit_trim(Offset{60}));
  ok(commit_trim(Offset{20}));
  ok(commit_trim(Offset{0}));
  EXPECT_EQ(tail().first, Offset{60});
  refused(store().read(key(), Offset{20}), ErrorCode::kGone);
}

TEST_P(Logs, AreTrimmedAtMostToTheirTail) {
  fill(100, 10);
  ok(commit_trim(Offset{5'000}));
  EXPECT_EQ(tail().first, Offset{100});
  EXPECT_EQ(tail().tail, Offset{100});
  const Records page = ok(store().read(key(), Offset{100}));
  EXPECT_TRUE(page.items.empty());
  EXPECT_TRUE(page.at_tail);
  EXPECT_EQ(append({"next"}).first, Offset{100});
  EXPECT_THAT(records("log", Offset{100}), ElementsAre("next"));
  // The tail is that after the batch's own appends.
  ok(store().commit({.home = kHome,
                     .appends = {{.log = "log", .records = {"x", "y"}}},
                     .trims = {{.log = "log", .before = Offset{102}}}}));
  EXPECT_THAT(records("log", Offset{102}), ElementsAre("y"));
}

TEST_P(Logs, StayClosedAndFencedWhenTrimmed) {
  create();
  ok(commit_append({.log = "log", .records = {"a", "b"}, .epoch = Epoch{4}, .close = true}));
  ok(commit_trim(Offset{2}));
  EXPECT_TRUE(tail().closed);
  EXPECT_EQ(tail().epoch, Epoch{4});
  EXPECT_EQ(tail().bytes, 2u);
  EXPECT_EQ(refused(commit_append({.log = "log", .records = {"c"}}), ErrorCode::kClosed).actual,
            2u);
}

TEST_P(Logs, TrimOneRecordAtATime) {
  fill(60, 9);
  for (std::uint64_t at = 1; at <= 60; ++at) {
    ok(commit_trim(Offset{at}));
    ASSERT_EQ(tail().first.value, at);
    ASSERT_EQ(records("log", Offset{at}).size(), 60 - at);
  }
}

TEST_P(Logs, AreRemovedWithTheirRecords) {
  fill(300, 10);
  ok(commit_append({.log = "log", .epoch = Epoch{4}, .close = true}));
  ok(store().commit({.home = kHome, .removes = {{.log = "log"}}}));
  refused(store().tail(key()), ErrorCode::kNotFound);
  refused(store().read(key(), Offset{0}), ErrorCode::kNotFound);
  ok(store().commit({.home = kHome, .removes = {{.log = "log"}}}));  // again: no error
  create("log", Offset{2});
  const LogState fresh = tail();
  EXPECT_EQ(fresh.first, Offset{2});
  EXPECT_EQ(fresh.tail, Offset{2});
  EXPECT_FALSE(fresh.closed);
  EXPECT_EQ(fresh.epoch, Epoch{0});
  EXPECT_EQ(fresh.bytes, 0u);
  append({"new"});
  EXPECT_THAT(records("log", Offset{2}), ElementsAre("new"));
}

TEST_P(Logs, BelongToTheirHome) {
  create();
  append({"mine"});
  ok(store().commit({.home = "stream/b",
                     .creates = {{.log = "log"}},
                     .appends = {{.log = "log", .records = {"theirs"}}}}));
  ok(store().commit({.home = "stream/b", .removes = {{.log = "log"}}}));
  EXPECT_THAT(records(), ElementsAre("mine"));
  // The parts of a key cannot run into each other.
  ok(store().commit({.home = "stream", .creates = {{.log = "a/log"}}}));
  ok(store().commit({.home = "stream/a/", .creates = {{.log = "log"}}}));
  EXPECT_EQ(ok(store().logs({}, 10)).size(), 3u);
}

TEST_P(Logs, AreListedInOrder) {
  EXPECT_THAT(ok(store().logs({}, 10)), IsEmpty());
  const std::vector<LogKey> all{{"a", "x"}, {"a", "y"}, {"a/b", "x"}, {"b", "a"}, {"b", "b"}};
  for (const std::size_t i : {3u, 0u, 4u, 2u, 1u}) {
    ok(store().commit({.home = all[i].home, .creates = {{.log = all[i].log}}}));
  }
  EXPECT_EQ(ok(store().logs({}, 10)), all);
  EXPECT_THAT(ok(store().logs({}, 2)), ElementsAre(all[0], all[1]));
  EXPECT_THAT(ok(store().logs(all[1], 2)), ElementsAre(all[2], all[3]));
  EXPECT_THAT(ok(store().logs({"a", "xx"}, 1)), ElementsAre(all[1]));  // need not be there
  EXPECT_THAT(ok(store().logs({"a/b", ""}, 1)), ElementsAre(all[2]));
  EXPECT_THAT(ok(store().logs(all[4], 10)), IsEmpty());
  EXPECT_THAT(ok(store().logs({}, 0)), IsEmpty());
  ok(store().commit({.home = "a/b", .removes = {{.log = "x"}}}));
  EXPECT_THAT(ok(store().logs(all[1], 10)), ElementsAre(all[3], all[4]));
}

TEST_P(Logs, E4_KeepTheirOrderWhenTheClockJumpsBack) {
  create();
  append({"a"});
  clock().advance_ms(-3'600'000);
  append({"b"});
  clock().advance_ms(7'200'000);
  append({"c"});
  clock().set({0});
  append({"d"});
  EXPECT_THAT(records(), ElementsAre("a", "b", "c", "d"));
  EXPECT_EQ(tail().tail, Offset{4});
}

TEST_P(Logs, LocateByTimeNeverPastAYoungRecord) {
  create();
  for (int i = 0; i < 50; ++i) {
    append({"old"});
    clock().advance_ms(10);
  }
  const Timestamp cutoff = clock().now();
  for (int i = 0; i < 50; ++i) {
    append({"young"});
    clock().advance_ms(10);
  }
  EXPECT_LE(ok(store().locate_time(key(), cutoff)), Offset{50});
  EXPECT_EQ(ok(store().locate_time(key(), {0})), Offset{0});
  // Everything is older than this: stores may keep a block more, but know of something to drop.
  const Offset all_old = ok(store().locate_time(key(), {clock().now().ms + 1}));
  EXPECT_GT(all_old, Offset{0});
  EXPECT_LE(all_old, Offset{100});
  ok(commit_trim(Offset{40}));
  EXPECT_EQ(ok(store().locate_time(key(), {0})), Offset{40});
}

TEST_P(Logs, LocateByTimeKeepsWhatIsYoungWhenTheClockJumpsBack) {
  create();
  clock().set({1'000'000});
  append({"young"});
  clock().set({10});
  append({"old"});
  EXPECT_EQ(ok(store().locate_time(key(), {500'000})), Offset{0});
}

TEST_P(Logs, LocateByBytesKeepsAtLeastSoMany) {
  create();
  const std::string payload(100, 'x');
  for (int i = 0; i < 200; ++i) append({payload});
  const Offset tail_at = tail().tail;
  for (const std::uint64_t bytes : {0ull, 1ull, 99ull, 100ull, 101ull, 5'000ull, 19'999ull}) {
    const Offset to = ok(store().locate_bytes(key(), bytes));
    EXPECT_GE((tail_at - to) * 100, bytes) << bytes;
  }
  EXPECT_EQ(ok(store().locate_bytes(key(), 20'000)), Offset{0});
  EXPECT_EQ(ok(store().locate_bytes(key(), 1'000'000)), Offset{0});
  EXPECT_GT(ok(store().locate_bytes(key(), 100)), Offset{0});
  ok(commit_trim(Offset{40}));
  EXPECT_EQ(ok(store().locate_bytes(key(), 1'000'000)), Offset{40});
}

TEST_P(Logs, AreFullAtTheirLimit) {
  create("log", Offset{kLogOffsetsMax - 2});
  append({"a", "b"});
  EXPECT_EQ(tail().tail.value, kLogOffsetsMax);
  const Error full = refused(commit_append({.log = "log", .records = {"c"}}), ErrorCode::kTooLarge);
  EXPECT_EQ(full.expected, kLogOffsetsMax);
  EXPECT_THAT(records("log", Offset{kLogOffsetsMax - 2}), ElementsAre("a", "b"));
  ok(commit_append({.log = "log", .close = true}));
  refused(store().commit(
              {.home = kHome, .creates = {{.log = "far", .first = Offset{kLogOffsetsMax + 1}}}}),
          ErrorCode::kTooLarge);
}

INSTANTIATE_TEST_SUITE_P(All, Logs, testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace holdfast::suite
