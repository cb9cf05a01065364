// Histories of concurrent clients of one log, recorded and checked: through one object, through two
// on the same data, and when answers get lost on the way.
#include "sim/linearizability.h"

#include <atomic>
#include <latch>
#include <thread>

#include "sim/lossy_store.h"
#include "store_suite.h"

namespace holdfast::suite {
namespace {

using sim::LogOperation;

class Linearizability : public StoreSuite {
 protected:
  struct Plan {
    std::size_t clients = 4;
    std::size_t operations = 60;
    bool with_close = false;
  };

  // Each client works on its own store (they may be the same one, or two on the same data).
  std::vector<LogOperation> record(const std::vector<Store*>& stores, std::uint64_t seed,
                                   const Plan& plan) {
    std::vector<std::vector<LogOperation>> parts(plan.clients);
    std::latch start{static_cast<std::ptrdiff_t>(plan.clients)};
    std::vector<std::thread> threads;
    for (std::size_t client = 0; client < plan.clients; ++client) {
      threads.emplace_back([&, client] {
        Random random{seed * 1'000 + client};
        start.arrive_and_wait();
        for (std::size_t i = 0; i < plan.operations; ++i) {
          const bool closes = plan.with_close && i + 1 == plan.operations && client == 0;
          const std::uint64_t value = client * 1'000'000 + i;
          parts[client].push_back(one(*stores[client % stores.size()], random, value, closes));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    std::vector<LogOperation> history;
    for (auto& part : parts) history.insert(history.end(), part.begin(), part.end());
    return history;
  }

  void expect_one_order(const std::vector<Store*>& stores, const Plan& plan) {
    std::uint64_t stale = 0;
    std::uint64_t appended = 0;
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      log_ = "log" + std::to_string(seed);
      create(log_);
      const auto history = record(stores, seed, plan);
      const sim::Linearization judged = sim::linearize(history);
      ASSERT_TRUE(judged.possible) << "seed " << seed << ", no order; the longest part of one:\n"
                                   << judged.best;
      for (const LogOperation& op : history) {
        if (op.kind != LogOperation::Kind::kAppend) continue;
        stale += op.outcome == LogOperation::Outcome::kStale ? 1 : 0;
        appended += op.outcome == LogOperation::Outcome::kOk ? 1 : 0;
      }
    }
    EXPECT_GT(appended, 100u);
    RecordProperty("stale", static_cast<int>(stale));
  }

 private:
  LogOperation one(Store& store, Random& random, std::uint64_t value, bool closes) {
    if (closes || random.one_in(2)) return append(store, random, value, closes);
    return random.one_in(3) ? tail_of(store) : read(store, random);
  }

  LogOperation append(Store& store, Random& random, std::uint64_t value, bool closes) {
    LogOperation op{.kind = LogOperation::Kind::kAppend, .values = {value}, .closes = closes};
    if (random.one_in(3)) op.expected_tail = known_tail_.load();
    const std::string text = std::to_string(value);
    Batch batch{.home = kHome, .appends = {{.log = log_, .close = closes}}};
    batch.appends[0].records.emplace_back(text);
    if (op.expected_tail) batch.appends[0].expected_tail = Offset{*op.expected_tail};
    op.called = ++moment_;
    const auto committed = store.commit(batch);
    op.returned = ++moment_;
    if (committed) {
      op.outcome = LogOperation::Outcome::kOk;
      op.at = committed->appends.at(0).first.value;
      known_tail_ = op.at + 1;
      return op;
    }
    op.at = committed.error().actual;
    switch (committed.error().code) {
      case ErrorCode::kStale:
        op.outcome = LogOperation::Outcome::kStale;
        known_tail_ = op.at;
        break;
      case ErrorCode::kClosed: op.outcome = LogOperation::Outcome::kClosed; break;
      default:
        EXPECT_EQ(error_name(committed.error().code), error_name(ErrorCode::kUnavailable))
            << committed.error().message;
        op.outcome = LogOperation::Outcome::kUnknown;
        op.returned = LogOperation::kNever;
    }
    return op;
  }

  LogOperation read(Store& store, Random& random) {
    LogOperation op{.kind = LogOperation::Kind::kRead};
    op.called = ++moment_;
    const std::uint64_t tail_at = ok(store.tail(key(log_))).tail.value;
    op.at = tail_at - std::min<std::uint64_t>(tail_at, random.below(6));
    op.called = ++moment_;
    const Records page = ok(store.read(key(log_), Offset{op.at}, {.records_max = 4}));
    op.returned = ++moment_;
    for (const Record& record : page.items) {
      op.values.push_back(std::stoull(Bytes{record.bytes}));
    }
    op.to_tail = page.at_tail;
    op.closed = page.closed;
    return op;
  }

  LogOperation tail_of(Store& store) {
    LogOperation op{.kind = LogOperation::Kind::kTail};
    op.called = ++moment_;
    const LogState state = ok(store.tail(key(log_)));
    op.returned = ++moment_;
    op.at = state.tail.value;
    op.closed = state.closed;
    return op;
  }

  std::string log_;
  std::atomic<std::uint64_t> moment_ = 0;
  std::atomic<std::uint64_t> known_tail_ = 0;
};

TEST_P(Linearizability, OfOneObject) { expect_one_order({&store()}, {}); }

TEST_P(Linearizability, OfALogThatCloses) { expect_one_order({&store()}, {.with_close = true}); }

TEST_P(Linearizability, OfTwoObjectsOnTheSameData) {
  const auto other = under_test().open_another();
  if (!other) GTEST_SKIP() << "this store cannot be opened twice";
  expect_one_order({&store(), other.get()}, {.with_close = true});
}

TEST_P(Linearizability, WhenAnswersGetLost) {
  sim::LossyStore lossy{store(), 5, 8};
  expect_one_order({&lossy, &store()}, {});
  EXPECT_GT(lossy.lost(), 10u);
}

INSTANTIATE_TEST_SUITE_P(All, Linearizability, testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace holdfast::suite
