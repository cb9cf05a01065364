// What operations may cost, in counts, at two lengths a hundred times apart; and what is kept.
#include "streams_fixture.h"

namespace holdfast::suite {
namespace {

using namespace std::chrono_literals;

class StreamCosts : public StreamSuite {};

TEST_P(StreamCosts, DoNotGrowWithTheHistory) {
  struct Costs {
    Cost append, batch, tail, open_follower, last, page, handle;
  };
  std::vector<Costs> at;
  for (const std::size_t length : {500u, 50'000u}) {
    const std::string name = "s" + std::to_string(length);
    Stream stream = make_filled(name, length);
    Costs costs;
    costs.append = cost_of([&] { ok(stream.append("x")); });
    costs.batch = cost_of([&] {
      const std::vector<BytesView> chunks(32, "y");
      ok(stream.append(chunks));
    });
    costs.tail = cost_of([&] { ok(stream.tail()); });
    costs.open_follower = cost_of([&] {
      Follower follower = ok(stream.follow({.from = Offset{length}}));
      EXPECT_EQ(follower.try_next()->bytes, "x");
    });
    costs.last = cost_of([&] { ok(stream.read({.from = From::last(3)})); });
    costs.page = cost_of([&] { ok(stream.read({.limits = {.records_max = 100}})); });
    costs.handle = cost_of([&] { ok(streams().open(name)); });
    at.push_back(costs);
  }
  for (const Costs& costs : at) {
    for (const Cost& append : {costs.append, costs.batch}) {
      EXPECT_EQ(append.commits, 1u);
      EXPECT_EQ(append.reads, 0u);
      EXPECT_EQ(append.rows_read, 0u);
    }
    EXPECT_EQ(costs.tail.reads, 0u);
    EXPECT_LE(costs.tail.rows_read, 1u);
    EXPECT_EQ(costs.open_follower.reads, 1u);
    EXPECT_EQ(costs.open_follower.records_read, 33u);
    EXPECT_EQ(costs.last.reads, 1u);
    EXPECT_EQ(costs.last.records_read, 3u);
    EXPECT_EQ(costs.page.records_read, 100u);
    EXPECT_EQ(costs.handle.reads, 0u);
    EXPECT_EQ(costs.handle.rows_read, 1u);
  }
  EXPECT_LE(at[1].open_follower.rows_read, at[0].open_follower.rows_read + 1);
  EXPECT_LE(at[1].last.rows_read, at[0].last.rows_read + 1);
}

TEST_P(StreamCosts, S2_TailAndLengthReadAtMostOneRow) {
  Stream stream = make_filled("s", 50'000);
  const auto cost = cost_of([&] {
    const LogState state = ok(stream.tail());
    EXPECT_EQ(state.tail, Offset{50'000});
    EXPECT_EQ(state.first, Offset{0});
  });
  EXPECT_LE(cost.rows_read, 1u);
  EXPECT_EQ(cost.records_read, 0u);
}

TEST_P(StreamCosts, ATtlIsWrittenSeldom) {
  Stream stream = make("s", {.ttl = 1'000s});
  const auto cost = cost_of([&] {
    for (int i = 0; i < 1'000; ++i) {
      clock().advance_ms(1'000);
      ok(stream.read({.from = From::tail()}));
    }
  });
  EXPECT_LE(cost.commits, 9u);
  EXPECT_GE(cost.commits, 7u);
}

TEST_P(StreamCosts, S15_RetentionByCountKeepsOffsetsAndNeverTooLittle) {
  Stream stream = make("s", {.retention = {.chunks_max = 100}});
  for (int i = 0; i < 500; ++i) {
    ok(stream.append(std::to_string(i)));
    if (i % 50 == 0) settle();
    const LogState state = ok(stream.tail());
    ASSERT_GE(state.tail - state.first, std::min<std::uint64_t>(state.tail.value, 100));
  }
  settle();
  const LogState state = ok(stream.tail());
  EXPECT_EQ(state.tail, Offset{500});
  EXPECT_LE(state.tail - state.first, 100u + 100 / 8 + 16);
  EXPECT_EQ(ok(stream.read()).items.front().bytes, std::to_string(state.first.value));
}

TEST_P(StreamCosts, RetentionTakesAShareOfACommitPerAppend) {
  Stream stream = make("s", {.retention = {.chunks_max = 160}});
  for (int i = 0; i < 200; ++i) ok(stream.append("x"));
  settle();
  const auto cost = cost_of([&] {
    for (int i = 0; i < 200; ++i) ok(stream.append("x"));
    settle();
  });
  EXPECT_LE(cost.commits, 200u + 11) << "one trim for each twenty appends";
}

TEST_P(StreamCosts, RetentionByBytesAndAge) {
  Stream bytes = make("bytes", {.retention = {.bytes_max = 10'000}});
  const std::string chunk(100, 'x');
  for (int i = 0; i < 300; ++i) ok(bytes.append(chunk));
  settle();
  const LogState kept = ok(bytes.tail());
  EXPECT_GE((kept.tail - kept.first) * 100, 10'000u);
  EXPECT_LE((kept.tail - kept.first) * 100, 10'000u + 2 * 4'096 + 4'096);

  // Chunks of this size are stored one by one; smaller ones go, and stay, together.
  const std::string large(4'000, 'y');
  Stream age = make("age", {.retention = {.age_max = 60s}});
  for (int i = 0; i < 50; ++i) {
    clock().advance_ms(10'000);
    ok(age.append(large));
  }
  settle();
  const LogState young = ok(age.tail());
  EXPECT_GE(young.tail - young.first, 6u);
  EXPECT_LE(young.tail - young.first, 10u);
  // With nothing appended any more the sweep does it.
  clock().advance_ms(100'000);
  EXPECT_TRUE(ok(streams().sweep()).has_value());
  EXPECT_EQ(ok(age.tail()).first, Offset{50});
  EXPECT_EQ(all(age), Texts{});
}

TEST_P(StreamCosts, RetentionCanBeChanged) {
  Stream stream = make_filled("s", 500);
  ok(stream.set_retention({.chunks_max = 10}));
  EXPECT_EQ(ok(stream.tail()).first, Offset{490});
  EXPECT_EQ(ok(stream.info()).retention.chunks_max, std::optional<std::uint64_t>{10});
  refused(stream.set_retention({.age_max = -1ms}), ErrorCode::kInvalidArgument);
}

HOLDFAST_OVER_ALL_STORES(StreamCosts);

}  // namespace
}  // namespace holdfast::suite
