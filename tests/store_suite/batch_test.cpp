// Batches: whole or not at all, checked before anything is written, in the order of the parts.
#include <gmock/gmock.h>

#include "store_suite.h"

namespace holdfast::suite {
namespace {

using testing::ElementsAre;
using Batches = StoreSuite;

TEST_P(Batches, OfNothingSucceed) {
  const Committed committed = ok(store().commit({.home = kHome}));
  EXPECT_TRUE(committed.appends.empty());
  EXPECT_TRUE(committed.row_versions.empty());
}

TEST_P(Batches, TellWhereEachPartWent) {
  create("a");
  create("b", Offset{7});
  const Committed committed = ok(store().commit(
      {.home = kHome,
       .appends = {{.log = "b", .records = {"x"}}, {.log = "a", .records = {"y", "z"}}},
       .puts = {{.space = "rows", .key = "k", .value = "v"},
                {.space = "rows", .key = "l", .value = "w"}}}));
  ASSERT_EQ(committed.appends.size(), 2u);
  EXPECT_EQ(committed.appends[0].first, Offset{7});
  EXPECT_EQ(committed.appends[0].next, Offset{8});
  EXPECT_EQ(committed.appends[1].first, Offset{0});
  EXPECT_EQ(committed.appends[1].next, Offset{2});
  ASSERT_EQ(committed.row_versions.size(), 2u);
  EXPECT_EQ(committed.row_versions[0], get("k")->version);
  EXPECT_EQ(committed.row_versions[1], get("l")->version);
}

TEST_P(Batches, ChangeNothingWhenOnePartIsRefused) {
  create("log");
  create("closed");
  ok(commit_append({.log = "closed", .close = true}));
  append({"one"});
  ok(commit_append({.log = "log", .epoch = Epoch{5}}));
  put("k", "v");
  ok(store().commit({.home = "other/b", .puts = {{.space = "rows", .key = "foreign"}}}));
  const std::string before = dump();

  const auto good = [] {
    return Batch{.home = kHome,
                 .creates = {{.log = "new"}},
                 .appends = {{.log = "log", .records = {"two"}}},
                 .trims = {{.log = "log", .before = Offset{1}}},
                 .removes = {{.log = "closed"}},
                 .puts = {{.space = "rows", .key = "new", .value = "v"}},
                 .deletes = {{.space = "rows", .key = "k"}}};
  };
  std::vector<std::pair<Batch, ErrorCode>> bad;
  const auto spoil = [&](ErrorCode code, auto&& how) {
    Batch batch = good();
    how(batch);
    bad.emplace_back(std::move(batch), code);
  };
  const std::string huge(kRecordBytesMax + 1, 'x');
  spoil(ErrorCode::kAlreadyExists, [](Batch& b) { b.creates.push_back({.log = "log"}); });
  spoil(ErrorCode::kNotFound, [](Batch& b) { b.appends.push_back({.log = "missing"}); });
  spoil(ErrorCode::kClosed,
        [](Batch& b) { b.appends.push_back({.log = "closed", .records = {"x"}}); });
  spoil(ErrorCode::kStale, [](Batch& b) { b.appends[0].expected_tail = Offset{0}; });
  spoil(ErrorCode::kStale, [](Batch& b) { b.appends[0].epoch = Epoch{4}; });
  spoil(ErrorCode::kTooLarge, [&](Batch& b) { b.appends[0].records.emplace_back(huge); });
  spoil(ErrorCode::kNotFound, [](Batch& b) { b.trims.push_back({.log = "missing"}); });
  spoil(ErrorCode::kStale,
        [](Batch& b) { b.puts.push_back({.space = "rows", .key = "l", .expected_version = 1}); });
  spoil(ErrorCode::kStale, [](Batch& b) { b.deletes[0].expected_version = 0; });
  spoil(ErrorCode::kConflict,
        [](Batch& b) { b.puts.push_back({.space = "rows", .key = "foreign"}); });
  spoil(ErrorCode::kConflict,
        [](Batch& b) { b.deletes.push_back({.space = "rows", .key = "foreign"}); });
  spoil(ErrorCode::kInvalidArgument, [](Batch& b) { b.removes.push_back({.log = ""}); });

  for (std::size_t i = 0; i < bad.size(); ++i) {
    SCOPED_TRACE(i);
    refused(store().commit(bad[i].first), bad[i].second);
    EXPECT_EQ(dump(), before);
  }
  ok(store().commit(good()));
  EXPECT_NE(dump(), before);
}

TEST_P(Batches, AreCheckedAgainstTheStateBeforeThem) {
  create();
  append({"one", "two"});
  put("k", "v");
  const std::uint64_t version = get("k")->version;
  // The append's expected tail and the delete's expected version are those before the batch, though
  // the same batch moves both.
  ok(store().commit(
      {.home = kHome,
       .appends = {{.log = "log", .records = {"three"}, .expected_tail = Offset{2}}},
       .trims = {{.log = "log", .before = Offset{1}}},
       .puts = {{.space = "rows", .key = "k", .value = "w", .expected_version = version}},
       .deletes = {{.space = "rows", .key = "k", .expected_version = version}}}));
  EXPECT_THAT(records("log", Offset{1}), ElementsAre("two", "three"));
  EXPECT_FALSE(get("k"));
  // A row that the batch itself puts was not there before it.
  ok(store().commit({.home = kHome,
                     .puts = {{.space = "rows", .key = "n", .expected_version = 0}},
                     .deletes = {{.space = "rows", .key = "n", .expected_version = 0}}}));
  EXPECT_FALSE(get("n"));
}

TEST_P(Batches, HappenInTheOrderOfTheirParts) {
  ok(store().commit({.home = kHome,
                     .creates = {{.log = "log", .first = Offset{3}}, {.log = "brief"}},
                     .appends = {{.log = "log", .records = {"three", "four", "five"}},
                                 {.log = "brief", .records = {"gone"}}},
                     .trims = {{.log = "log", .before = Offset{5}}},
                     .removes = {{.log = "brief"}}}));
  EXPECT_EQ(tail().first, Offset{5});
  EXPECT_EQ(tail().tail, Offset{6});
  EXPECT_THAT(records("log", Offset{5}), ElementsAre("five"));
  refused(store().tail(key("brief")), ErrorCode::kNotFound);
}

TEST_P(Batches, MakeALogAndCloseItAtOnce) {
  ok(store().commit({.home = kHome,
                     .creates = {{.log = "log"}},
                     .appends = {{.log = "log",
                                  .records = {"all"},
                                  .expected_tail = Offset{0},
                                  .epoch = Epoch{2},
                                  .close = true}}}));
  EXPECT_TRUE(tail().closed);
  EXPECT_EQ(tail().epoch, Epoch{2});
  EXPECT_THAT(records(), ElementsAre("all"));
}

TEST_P(Batches, NameNothingTwiceInOneList) {
  create();
  put("k", "v");
  const std::string before = dump();
  const std::vector<Batch> bad{
      {.home = kHome, .creates = {{.log = "x"}, {.log = "x"}}},
      {.home = kHome, .creates = {{.log = "x"}, {.log = "x", .if_missing = true}}},
      {.home = kHome, .appends = {{.log = "log", .records = {"a"}}, {.log = "log"}}},
      {.home = kHome, .trims = {{.log = "log"}, {.log = "log"}}},
      {.home = kHome, .removes = {{.log = "log"}, {.log = "log"}}},
      {.home = kHome, .puts = {{.space = "rows", .key = "k"}, {.space = "rows", .key = "k"}}},
      {.home = kHome, .deletes = {{.space = "rows", .key = "k"}, {.space = "rows", .key = "k"}}},
  };
  for (const Batch& batch : bad) refused(store().commit(batch), ErrorCode::kInvalidArgument);
  EXPECT_EQ(dump(), before);
  // The same key in two spaces is two rows.
  ok(store().commit(
      {.home = kHome, .puts = {{.space = "rows", .key = "k"}, {.space = "other", .key = "k"}}}));
}

TEST_P(Batches, SayTheFirstThingThatIsWrong) {
  create();
  create("shut");
  ok(commit_append({.log = "shut", .records = {"x"}, .epoch = Epoch{3}, .close = true}));
  // Names and limits before states, whatever list they stand in.
  refused(store().commit(
              {.home = kHome, .creates = {{.log = "log"}}, .deletes = {{.space = "", .key = "k"}}}),
          ErrorCode::kInvalidArgument);
  // Lists in their order.
  refused(
      store().commit({.home = kHome, .creates = {{.log = "log"}}, .appends = {{.log = "missing"}}}),
      ErrorCode::kAlreadyExists);
  refused(store().commit({.home = kHome,
                          .trims = {{.log = "missing"}},
                          .puts = {{.space = "rows", .key = "k", .expected_version = 9}}}),
          ErrorCode::kNotFound);
  // One append: epoch, then closed, then the tail.
  EXPECT_EQ(
      refused(commit_append(
                  {.log = "shut", .records = {"y"}, .expected_tail = Offset{0}, .epoch = Epoch{1}}),
              ErrorCode::kStale)
          .actual,
      3u);
  refused(commit_append({.log = "shut", .records = {"y"}, .expected_tail = Offset{0}}),
          ErrorCode::kClosed);
}

TEST_P(Batches, OutliveTheStoreObject) {
  create();
  append({"one", "two"});
  ok(commit_append({.log = "log", .records = {"three"}, .epoch = Epoch{4}, .close = true}));
  ok(commit_trim(Offset{1}));
  const std::uint64_t version = put("k", "v");
  create("empty", Offset{9});
  const std::string before = dump();
  if (!under_test().reopen()) GTEST_SKIP() << "nothing outlives this store";
  EXPECT_EQ(dump(), before);
  EXPECT_EQ(get("k")->version, version);
  EXPECT_GT(put("k", "w"), version);
}

INSTANTIATE_TEST_SUITE_P(All, Batches, testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace holdfast::suite
