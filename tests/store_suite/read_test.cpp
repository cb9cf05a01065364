// Reads: limits, marks, pages that join to the whole, views that stay.
#include <gmock/gmock.h>

#include "store_suite.h"

namespace holdfast::suite {
namespace {

using Reads = StoreSuite;

std::vector<Bytes> payloads(const Records& page) {
  std::vector<Bytes> out;
  for (const Record& record : page.items) out.emplace_back(record.bytes);
  return out;
}

TEST_P(Reads, ReturnEverythingWithinTheirLimits) {
  fill(500, 13);
  const Records page = ok(store().read(key(), Offset{0}));
  ASSERT_EQ(page.items.size(), 500u);
  for (std::size_t i = 0; i < 500; ++i) {
    ASSERT_EQ(page.items[i].offset.value, i);
    ASSERT_EQ(page.items[i].bytes, std::to_string(i));
  }
  EXPECT_EQ(page.next, Offset{500});
  EXPECT_TRUE(page.at_tail);
  EXPECT_FALSE(page.closed);
}

TEST_P(Reads, BeginAnywhere) {
  fill(200, 17);
  for (std::uint64_t from = 0; from < 200; ++from) {
    const Records page = ok(store().read(key(), Offset{from}));
    ASSERT_EQ(page.items.size(), 200 - from);
    ASSERT_EQ(page.items.front().offset.value, from);
    ASSERT_EQ(page.items.front().bytes, std::to_string(from));
  }
}

TEST_P(Reads, KeepTheLimitOfRecords) {
  fill(100, 9);
  for (const std::size_t most : {1u, 2u, 9u, 10u, 63u, 100u, 200u}) {
    const Records page = ok(store().read(key(), Offset{5}, {.records_max = most}));
    EXPECT_EQ(page.items.size(), std::min<std::size_t>(most, 95)) << most;
    EXPECT_EQ(page.next, Offset{5} + page.items.size());
    EXPECT_EQ(page.at_tail, most >= 95);
  }
}

TEST_P(Reads, KeepTheLimitOfBytes) {
  create();
  const std::string payload(100, 'x');
  for (int i = 0; i < 100; ++i) append({payload, payload});
  for (const std::size_t most : {100u, 199u, 200u, 1'000u, 4'321u}) {
    const Records page = ok(store().read(key(), Offset{3}, {.bytes_max = most}));
    ASSERT_FALSE(page.items.empty());
    EXPECT_LE(page.items.size() * 100, most);
    EXPECT_FALSE(page.at_tail);
  }
}

TEST_P(Reads, ReturnOneRecordWhateverTheLimits) {
  create();
  const std::string large(200'000, 'x');
  append({large, "small"});
  for (const ReadLimits limits : {ReadLimits{.bytes_max = 10}, ReadLimits{.bytes_max = 0},
                                  ReadLimits{.records_max = 0}, ReadLimits{0, 0}}) {
    const Records page = ok(store().read(key(), Offset{0}, limits));
    ASSERT_EQ(page.items.size(), 1u);
    EXPECT_EQ(page.items[0].bytes, large);
    EXPECT_EQ(page.next, Offset{1});
    EXPECT_FALSE(page.at_tail);
  }
  EXPECT_TRUE(ok(store().read(key(), Offset{1}, {0, 0})).at_tail);
}

TEST_P(Reads, AtTheTailAreEmpty) {
  fill(10);
  const Records page = ok(store().read(key(), Offset{10}));
  EXPECT_TRUE(page.items.empty());
  EXPECT_EQ(page.next, Offset{10});
  EXPECT_TRUE(page.at_tail);
  EXPECT_FALSE(page.closed);
}

TEST_P(Reads, BeyondTheTailAreRefused) {
  fill(10);
  EXPECT_EQ(refused(store().read(key(), Offset{11}), ErrorCode::kInvalidArgument).actual, 10u);
  EXPECT_EQ(refused(store().read(key(), Offset{~0ull}), ErrorCode::kInvalidArgument).actual, 10u);
  create("empty");
  EXPECT_EQ(refused(store().read(key("empty"), Offset{1}), ErrorCode::kInvalidArgument).actual, 0u);
}

TEST_P(Reads, BelowTheFirstAreRefused) {
  fill(10);
  ok(commit_trim(Offset{4}));
  EXPECT_EQ(refused(store().read(key(), Offset{0}), ErrorCode::kGone).actual, 4u);
  EXPECT_EQ(refused(store().read(key(), Offset{3}), ErrorCode::kGone).actual, 4u);
  EXPECT_EQ(ok(store().read(key(), Offset{4})).items.size(), 6u);
}

TEST_P(Reads, SayThatALogIsClosedOnlyAtItsTail) {
  fill(10);
  ok(commit_append({.log = "log", .close = true}));
  EXPECT_FALSE(ok(store().read(key(), Offset{0}, {.records_max = 9})).closed);
  EXPECT_TRUE(ok(store().read(key(), Offset{0}, {.records_max = 10})).closed);
  EXPECT_TRUE(ok(store().read(key(), Offset{10})).closed);
}

TEST_P(Reads, S6_JoinToTheSameBytesHoweverTheyAreCut) {
  create();
  std::vector<Bytes> all;
  for (std::size_t i = 0; i < 700; ++i) {
    all.push_back(std::string(i * 37 % 300, static_cast<char>('a' + i % 26)));
  }
  for (std::size_t at = 0; at < all.size(); at += 20) {
    append({all.begin() + static_cast<std::ptrdiff_t>(at),
            all.begin() + static_cast<std::ptrdiff_t>(at + 20)});
  }
  for (const std::size_t records_max : {1u, 3u, 19u, 20u, 21u, 256u, 1'000u}) {
    for (const std::size_t bytes_max : {1u, 500u, 4'096u, 1u << 20}) {
      const auto read = sim::read_all(store(), key(), Offset{0}, {records_max, bytes_max});
      ASSERT_EQ(read.problem, "");
      ASSERT_EQ(read.records, all) << records_max << ' ' << bytes_max;
    }
  }
}

TEST_P(Reads, KeepTheirViewsWhenMovedAndWhileTheLogGoesOn) {
  fill(300, 11);
  Records page = ok(store().read(key(), Offset{0}));
  const std::vector<Bytes> before = payloads(page);
  const Records moved = std::move(page);
  ok(commit_trim(Offset{300}));
  append({"later"});
  ok(store().commit({.home = kHome, .removes = {{.log = "log"}}}));
  EXPECT_EQ(payloads(moved), before);
  EXPECT_EQ(before.back(), "299");
}

TEST_P(Reads, ReturnLargeRecordsAmongSmallOnes) {
  create();
  std::vector<Bytes> all;
  for (std::size_t i = 0; i < 12; ++i) {
    all.push_back(std::string(i % 3 == 0 ? 150'000 + i : i, static_cast<char>('a' + i)));
    append({all.back()});
  }
  const auto read = sim::read_all(store(), key(), Offset{0});
  EXPECT_EQ(read.problem, "");
  EXPECT_EQ(read.records, all);
  EXPECT_EQ(ok(store().read(key(), Offset{5})).items.front().bytes, all[5]);
}

INSTANTIATE_TEST_SUITE_P(All, Reads, testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace holdfast::suite
