// What operations may cost, in counts at two lengths of history a hundred times apart.
#include "store_suite.h"

namespace holdfast::suite {
namespace {

class Costs : public StoreSuite {
 protected:
  // The stats that `operation` adds.
  template <typename Operation>
  StoreStats cost_of(Operation operation) {
    const StoreStats before = store().stats();
    operation();
    StoreStats after = store().stats();
    after.commits -= before.commits;
    after.transactions -= before.transactions;
    after.records_written -= before.records_written;
    after.bytes_written -= before.bytes_written;
    after.rows_written -= before.rows_written;
    after.reads -= before.reads;
    after.rows_read -= before.rows_read;
    after.records_read -= before.records_read;
    after.bytes_read -= before.bytes_read;
    return after;
  }
};

TEST_P(Costs, S2_TailReadsAtMostOneRowAtAnyLength) {
  for (const std::size_t length : {1'000u, 100'000u}) {
    const std::string log = "log" + std::to_string(length);
    fill(length, 1'000, log);
    const StoreStats cost = cost_of([&] { EXPECT_EQ(tail(log).tail.value, length); });
    EXPECT_LE(cost.rows_read, 1u) << length;
    EXPECT_EQ(cost.records_read, 0u);
    EXPECT_EQ(cost.bytes_read, 0u);
  }
}

TEST_P(Costs, AppendsWriteTheirRecordsOnceAtAnyLength) {
  for (const std::size_t length : {1'000u, 100'000u}) {
    const std::string log = "log" + std::to_string(length);
    fill(length, 1'000, log);
    const StoreStats one = cost_of([&] { append({"0123456789"}, log); });
    EXPECT_EQ(one.commits, 1u);
    EXPECT_EQ(one.transactions, 1u);
    EXPECT_EQ(one.records_written, 1u);
    EXPECT_EQ(one.bytes_written, 10u);
    EXPECT_LE(one.rows_written, 2u) << length;
    EXPECT_EQ(one.reads, 0u);
    EXPECT_EQ(one.records_read, 0u);
    EXPECT_LE(one.rows_read, 2u) << length;
    const std::vector<BytesView> many(32, "0123456789");
    const StoreStats batch = cost_of([&] { append(many, log); });
    EXPECT_EQ(batch.commits, 1u);
    EXPECT_EQ(batch.records_written, 32u);
    EXPECT_EQ(batch.bytes_written, 320u);
  }
}

TEST_P(Costs, S3_AReaderThatComesBackReadsOnlyWhatIsNew) {
  for (const std::size_t length : {1'000u, 100'000u}) {
    const std::string log = "log" + std::to_string(length);
    fill(length, 1'000, log);
    append({"0123456789", "0123456789"}, log);
    const StoreStats cost = cost_of([&] {
      const Records page = ok(store().read(key(log), Offset{length}));
      EXPECT_EQ(page.items.size(), 2u);
      EXPECT_TRUE(page.at_tail);
    });
    EXPECT_EQ(cost.reads, 1u);
    EXPECT_EQ(cost.records_read, 2u) << length;
    EXPECT_EQ(cost.bytes_read, 20u) << length;
    EXPECT_LE(cost.rows_read, 3u) << length;
  }
}

TEST_P(Costs, S13_PagingIsLinearInTheLog) {
  const auto rows_of_paging = [&](std::size_t length) {
    const std::string log = "log" + std::to_string(length);
    fill(length, 100, log);
    const StoreStats cost = cost_of([&] {
      const auto all = sim::read_all(store(), key(log), Offset{0}, {.records_max = 50});
      EXPECT_EQ(all.problem, "");
      EXPECT_EQ(all.records.size(), length);
      EXPECT_LE(all.reads, length / 50 + 1);
    });
    EXPECT_EQ(cost.records_read, length);
    return cost.rows_read;
  };
  const std::uint64_t small = rows_of_paging(200);
  const std::uint64_t large = rows_of_paging(20'000);
  // A hundred times the log, a hundred times the rows, give or take what every log and every page
  // costs.
  constexpr std::uint64_t kPages = 20'000 / 50;
  EXPECT_LE(large, 110 * small + 2 * kPages);
}

TEST_P(Costs, TrimsCostWhatTheyDrop) {
  const auto rows_of_trim = [&](std::size_t length) {
    const std::string log = "log" + std::to_string(length);
    fill(length, 1'000, log);
    const StoreStats cost = cost_of([&] { ok(commit_trim(Offset{500}, log)); });
    return cost.rows_read + cost.rows_written;
  };
  const std::uint64_t small = rows_of_trim(1'000);
  const std::uint64_t large = rows_of_trim(100'000);
  EXPECT_LE(large, small + 4);
}

TEST_P(Costs, AKeptRowIsFoundAtOneRow) {
  for (int i = 0; i < 500; ++i) put("k" + std::to_string(i), "v");
  EXPECT_LE(cost_of([&] { (void)get("k250"); }).rows_read, 1u);
  const StoreStats scan =
      cost_of([&] { EXPECT_EQ(ok(store().scan("rows", {.from = "k2"}, 5)).size(), 5u); });
  EXPECT_LE(scan.rows_read, 6u);
}

INSTANTIATE_TEST_SUITE_P(All, Costs, testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace holdfast::suite
