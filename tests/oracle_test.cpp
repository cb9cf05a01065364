// Every store against the model, by random operations. HOLDFAST_SOAK=N makes it N times as long;
// HOLDFAST_SEED=N begins at another seed.
#include <cstdlib>

#include "sim/oracle.h"
#include "store_suite.h"

namespace holdfast::suite {
namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

sim::Subject subject_of(StoreUnderTest& under_test) {
  return {.store = [&]() -> Store& { return under_test.store(); },
          .reopen = [&] { under_test.reopen(); },
          .maintain = [&](std::uint64_t which) { return under_test.maintain(which); },
          .clock = &under_test.clock};
}

using Oracle = StoreSuite;

TEST_P(Oracle, AgreesWithTheModelAtEveryStep) {
  constexpr std::uint64_t kSeeds = 4;
  constexpr std::uint64_t kSteps = 2'000;
  const std::uint64_t soak = from_environment("HOLDFAST_SOAK", 1);
  const std::uint64_t first = from_environment("HOLDFAST_SEED", 1);
  std::uint64_t commits = 0;
  std::uint64_t refusals = 0;
  for (std::uint64_t seed = first; seed < first + kSeeds * soak; ++seed) {
    const auto fresh = GetParam().make();
    const sim::Verdicts verdicts = sim::run_oracle(subject_of(*fresh), seed, kSteps);
    ASSERT_EQ(verdicts.disagreement, "");
    ASSERT_EQ(verdicts.steps, kSteps);
    commits += verdicts.commits;
    refusals += verdicts.refusals;
  }
  // A script that does nothing, or nothing wrong, would agree too.
  EXPECT_GT(commits, kSeeds * soak * kSteps / 3);
  EXPECT_GT(refusals, kSeeds * soak * kSteps / 50);
}

TEST_P(Oracle, GivesTheSameLogForTheSameSeed) {
  const auto once = GetParam().make();
  const auto twice = GetParam().make();
  const auto first = sim::run_oracle(subject_of(*once), 42, 600);
  const auto second = sim::run_oracle(subject_of(*twice), 42, 600);
  EXPECT_EQ(first.disagreement, "");
  EXPECT_EQ(first.log, second.log);
  const auto other = GetParam().make();
  EXPECT_NE(sim::run_oracle(subject_of(*other), 43, 600).log, first.log);
}

INSTANTIATE_TEST_SUITE_P(All, Oracle, testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

// A store with a fault, to see that the oracle finds it.
class Faulty final : public Store {
 public:
  explicit Faulty(const Clock& clock) : inner_{make_memory_store(clock)} {}
  Result<Committed> commit(const Batch& batch) override {
    Batch spoilt = batch;
    // Forgets what a trim dropped one record too late, once in a while.
    for (LogTrim& trim : spoilt.trims) {
      if (++trims_ % 5 == 0 && trim.before.value > 0) trim.before.value -= 1;
    }
    return inner_->commit(spoilt);
  }
  void commit_async(Batch batch, CommitCallback done) override { done(commit(batch)); }
  Result<Records> read(const LogKey& log, Offset from, const ReadLimits& limits) override {
    return inner_->read(log, from, limits);
  }
  Result<LogState> tail(const LogKey& log) override { return inner_->tail(log); }
  Result<std::optional<Row>> get(std::string_view space, std::string_view key) override {
    return inner_->get(space, key);
  }
  Result<std::vector<Row>> scan(std::string_view space, const KeyRange& range,
                                std::size_t limit) override {
    return inner_->scan(space, range, limit);
  }
  Result<Watch> watch(const LogKey& log, WatchCallback changed) override {
    return inner_->watch(log, std::move(changed));
  }
  Result<Watch> watch_space(std::string_view space, WatchCallback changed) override {
    return inner_->watch_space(space, std::move(changed));
  }
  Result<Offset> locate_time(const LogKey& log, Timestamp cutoff) override {
    return inner_->locate_time(log, cutoff);
  }
  Result<Offset> locate_bytes(const LogKey& log, std::uint64_t bytes) override {
    return inner_->locate_bytes(log, bytes);
  }
  Result<std::vector<LogKey>> logs(const LogKey& after, std::size_t limit) override {
    return inner_->logs(after, limit);
  }
  [[nodiscard]] StoreStats stats() const override { return inner_->stats(); }

 private:
  std::unique_ptr<Store> inner_;
  int trims_ = 0;
};

TEST(OracleItself, FindsAStoreThatIsWrongAndNamesTheSeed) {
  ManualClock clock;
  Faulty faulty{clock};
  const sim::Subject subject{.store = [&]() -> Store& { return faulty; }, .clock = &clock};
  const auto verdicts = sim::run_oracle(subject, 7, 2'000);
  EXPECT_NE(verdicts.disagreement.find("seed 7 step "), std::string::npos) << verdicts.disagreement;
}

}  // namespace
}  // namespace holdfast::suite
