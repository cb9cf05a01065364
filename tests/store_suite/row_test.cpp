// Rows: versions, expected versions, owners, scans.
#include <gmock/gmock.h>

#include "store_suite.h"

namespace holdfast::suite {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Rows : public StoreSuite {
 protected:
  [[nodiscard]] std::vector<std::string> keys(const KeyRange& range = {}, std::size_t limit = 100,
                                              const std::string& space = "rows") {
    std::vector<std::string> out;
    for (const Row& row : ok(store().scan(space, range, limit))) {
      out.push_back(row.key);
      EXPECT_EQ(row.value, "of " + row.key);
      EXPECT_GE(row.version, 1u);
    }
    return out;
  }
  void put_all(std::initializer_list<std::string> names) {
    for (const std::string& name : names) put(name, "of " + name);
  }
};

TEST_P(Rows, AreFoundOnceWritten) {
  EXPECT_FALSE(get("k"));
  const std::uint64_t version = put("k", "v");
  const auto row = get("k");
  ASSERT_TRUE(row);
  EXPECT_EQ(row->key, "k");
  EXPECT_EQ(row->value, "v");
  EXPECT_EQ(row->version, version);
  EXPECT_FALSE(get("k", "other"));
}

TEST_P(Rows, GrowTheirVersionWithEveryPutAlsoAcrossDeletes) {
  std::uint64_t last = 0;
  for (int round = 0; round < 20; ++round) {
    const std::uint64_t version = put("k", "same");
    EXPECT_GT(version, last);
    last = version;
    EXPECT_EQ(get("k")->version, version);
    if (round % 3 == 0) {
      ok(store().commit({.home = kHome, .deletes = {{.space = "rows", .key = "k"}}}));
      EXPECT_FALSE(get("k"));
    }
  }
}

TEST_P(Rows, ArePutOnlyOverTheVersionExpected) {
  const auto put_over = [&](std::uint64_t expected) {
    return store().commit(
        {.home = kHome,
         .puts = {{.space = "rows", .key = "k", .value = "v", .expected_version = expected}}});
  };
  EXPECT_EQ(refused(put_over(1), ErrorCode::kStale).actual, 0u);
  const std::uint64_t first = ok(put_over(0)).row_versions.at(0);
  EXPECT_EQ(refused(put_over(0), ErrorCode::kStale).actual, first);
  const Error stale = refused(put_over(first + 1), ErrorCode::kStale);
  EXPECT_EQ(stale.expected, first + 1);
  EXPECT_EQ(stale.actual, first);
  EXPECT_GT(ok(put_over(first)).row_versions.at(0), first);
}

TEST_P(Rows, AreDeletedOnlyAtTheVersionExpected) {
  const auto delete_at = [&](std::optional<std::uint64_t> expected) {
    return store().commit(
        {.home = kHome, .deletes = {{.space = "rows", .key = "k", .expected_version = expected}}});
  };
  ok(delete_at({}));
  ok(delete_at(0));
  EXPECT_EQ(refused(delete_at(4), ErrorCode::kStale).actual, 0u);
  const std::uint64_t version = put("k", "v");
  EXPECT_EQ(refused(delete_at(0), ErrorCode::kStale).actual, version);
  EXPECT_EQ(refused(delete_at(version + 1), ErrorCode::kStale).actual, version);
  ok(delete_at(version));
  EXPECT_FALSE(get("k"));
}

TEST_P(Rows, OfAnotherHomeAreNotTouched) {
  ok(store().commit({.home = "run/1", .puts = {{.space = "rows", .key = "k", .value = "theirs"}}}));
  const std::uint64_t version = get("k")->version;
  refused(store().commit({.home = kHome, .puts = {{.space = "rows", .key = "k", .value = "x"}}}),
          ErrorCode::kConflict);
  // Who owns it comes before which version it has.
  refused(store().commit({.home = kHome,
                          .puts = {{.space = "rows", .key = "k", .expected_version = version}}}),
          ErrorCode::kConflict);
  refused(store().commit(
              {.home = kHome, .puts = {{.space = "rows", .key = "k", .expected_version = 0}}}),
          ErrorCode::kConflict);
  refused(store().commit({.home = kHome, .deletes = {{.space = "rows", .key = "k"}}}),
          ErrorCode::kConflict);
  EXPECT_EQ(get("k")->value, "theirs");
  ok(store().commit({.home = "run/1", .deletes = {{.space = "rows", .key = "k"}}}));
  EXPECT_GT(put("k", "mine"), version);
}

TEST_P(Rows, HoldAnyBytes) {
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  put(all, all);
  EXPECT_EQ(get(all)->value, all);
  const std::string nul("\0", 1);
  put(nul, "of nul");
  put("", "of nothing");
  EXPECT_EQ(get(nul)->value, "of nul");
  EXPECT_EQ(get("")->value, "of nothing");
  put("empty", "");
  EXPECT_EQ(get("empty")->value, "");
  EXPECT_FALSE(get(nul + nul));
}

TEST_P(Rows, AreScannedInKeyOrder) {
  put_all({"b", "a", "ab", "c", "B"});
  put("a", "of a", "other");
  EXPECT_THAT(keys(), ElementsAre("B", "a", "ab", "b", "c"));
  EXPECT_THAT(keys({.descending = true}), ElementsAre("c", "b", "ab", "a", "B"));
  EXPECT_THAT(keys({}, 100, "other"), ElementsAre("a"));
  EXPECT_THAT(keys({}, 100, "neither"), IsEmpty());
}

TEST_P(Rows, AreScannedWithinTheirRange) {
  put_all({"a", "b", "c", "d"});
  EXPECT_THAT(keys({.from = "b", .to = "d"}), ElementsAre("b", "c"));
  EXPECT_THAT(keys({.from = "b", .to = "d", .descending = true}), ElementsAre("c", "b"));
  EXPECT_THAT(keys({.from = "bb"}), ElementsAre("c", "d"));
  EXPECT_THAT(keys({.to = "b"}), ElementsAre("a"));
  EXPECT_THAT(keys({.to = "b", .descending = true}), ElementsAre("a"));
  EXPECT_THAT(keys({.from = "c", .to = "c"}), IsEmpty());
  EXPECT_THAT(keys({.from = "d", .to = "a"}), IsEmpty());
  EXPECT_THAT(keys({.from = "d", .to = "a", .descending = true}), IsEmpty());
  EXPECT_THAT(keys({.from = "z"}), IsEmpty());
}

TEST_P(Rows, AreScannedUpToTheLimit) {
  put_all({"a", "b", "c", "d"});
  EXPECT_THAT(keys({}, 0), IsEmpty());
  EXPECT_THAT(keys({}, 2), ElementsAre("a", "b"));
  EXPECT_THAT(keys({.descending = true}, 3), ElementsAre("d", "c", "b"));
  EXPECT_THAT(keys({}, 4), ElementsAre("a", "b", "c", "d"));
}

TEST_P(Rows, AreComparedAsUnsignedBytes) {
  const std::string nul("\0", 1);
  put_all({"\xff", "\x7f", nul, "a\xff", "a", "a" + nul, "\x80", "\xc3\xa9"});
  EXPECT_THAT(keys(),
              ElementsAre(nul, "a", "a" + nul, "a\xff", "\x7f", "\x80", "\xc3\xa9", "\xff"));
  EXPECT_THAT(keys({.from = "a", .to = "a\xff"}), ElementsAre("a", "a" + nul));
}

TEST_P(Rows, AreScannedByPrefix) {
  put_all({"a", "ab", "ab/1", "ab/2", "abc", "b", "\xff", "\xff\xff", "\xff\xff/x"});
  EXPECT_THAT(keys(KeyRange::prefix("ab")), ElementsAre("ab", "ab/1", "ab/2", "abc"));
  EXPECT_THAT(keys(KeyRange::prefix("ab/")), ElementsAre("ab/1", "ab/2"));
  EXPECT_THAT(keys(KeyRange::prefix("\xff\xff")), ElementsAre("\xff\xff", "\xff\xff/x"));
  EXPECT_THAT(keys(KeyRange::prefix("zz")), IsEmpty());
  EXPECT_EQ(keys(KeyRange::prefix("")).size(), 9u);
  KeyRange backwards = KeyRange::prefix("ab");
  backwards.descending = true;
  EXPECT_THAT(keys(backwards, 2), ElementsAre("abc", "ab/2"));
}

TEST_P(Rows, AreDeletedWithoutTheirNeighbours) {
  put_all({"a", "b", "c"});
  ok(store().commit({.home = kHome, .deletes = {{.space = "rows", .key = "b"}}}));
  EXPECT_THAT(keys(), ElementsAre("a", "c"));
}

INSTANTIATE_TEST_SUITE_P(All, Rows, testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace holdfast::suite
