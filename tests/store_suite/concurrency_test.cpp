// Many callers at once: one order for all, one winner where there can be one, nobody disturbed by
// another's refusal.
#include <atomic>
#include <condition_variable>
#include <future>
#include <latch>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "store_suite.h"

namespace holdfast::suite {
namespace {

using Concurrency = StoreSuite;

// Runs `body(i)` on `count` threads that start together.
template <typename Body>
void on_threads(std::size_t count, Body body) {
  std::latch start{static_cast<std::ptrdiff_t>(count)};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      body(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_P(Concurrency, AppendsGetOffsetsOfTheirOwn) {
  create();
  constexpr std::size_t kThreads = 8;
  constexpr std::size_t kEach = 40;
  std::mutex mutex;
  std::map<std::uint64_t, std::string> given;
  on_threads(kThreads, [&](std::size_t t) {
    std::uint64_t last = 0;
    for (std::size_t i = 0; i < kEach; ++i) {
      const std::string text = std::to_string(t) + "." + std::to_string(i);
      const AppendedRange range = append({text});
      EXPECT_EQ(range.next - range.first, 1u);
      EXPECT_TRUE(i == 0 || range.first.value > last) << "one caller's appends keep their order";
      last = range.first.value;
      const std::lock_guard lock{mutex};
      EXPECT_TRUE(given.emplace(range.first.value, text).second);
    }
  });
  const auto all = records();
  ASSERT_EQ(all.size(), kThreads * kEach);
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], given.at(i));
}

TEST_P(Concurrency, OneOfSeveralAppendsAtATailWins) {
  create();
  constexpr std::uint64_t kRounds = 40;
  std::vector<std::atomic<int>> winners(kRounds);
  on_threads(4, [&](std::size_t t) {
    const std::string text = std::to_string(t);
    for (std::uint64_t at = 0; at < kRounds;) {
      const auto won =
          commit_append({.log = "log", .records = {text}, .expected_tail = Offset{at}});
      if (won) {
        ++winners[at++];
      } else {
        EXPECT_EQ(refused(won, ErrorCode::kStale).expected, at);
        EXPECT_GT(won.error().actual, at);
        at = won.error().actual;
      }
    }
  });
  for (const auto& count : winners) EXPECT_EQ(count.load(), 1);
  EXPECT_EQ(records().size(), kRounds);
}

TEST_P(Concurrency, CountersOverVersionsLoseNothing) {
  put("n", "0");
  constexpr int kThreads = 4;
  constexpr int kEach = 25;
  on_threads(kThreads, [&](std::size_t) {
    for (int done = 0; done < kEach;) {
      const auto row = get("n");
      const std::string next = std::to_string(std::stoi(row->value) + 1);
      const auto won = store().commit(
          {.home = kHome,
           .puts = {
               {.space = "rows", .key = "n", .value = next, .expected_version = row->version}}});
      if (won) {
        ++done;
      } else {
        refused(won, ErrorCode::kStale);
      }
    }
  });
  EXPECT_EQ(get("n")->value, std::to_string(kThreads * kEach));
}

TEST_P(Concurrency, ARefusedBatchDisturbsNoOther) {
  create();
  std::atomic<int> refusals = 0;
  on_threads(8, [&](std::size_t t) {
    for (int i = 0; i < 30; ++i) {
      if (t % 2 == 0) {
        append({"good"});
      } else {
        const auto bad = store().commit(
            {.home = kHome,
             .appends = {{.log = "log", .records = {"bad"}}},
             .puts = {{.space = "rows", .key = "bad", .value = "", .expected_version = 77}}});
        refused(bad, ErrorCode::kStale);
        ++refusals;
      }
    }
  });
  EXPECT_EQ(refusals.load(), 120);
  const auto all = records();
  EXPECT_EQ(all.size(), 120u);
  for (const Bytes& record : all) EXPECT_EQ(record, "good");
  EXPECT_FALSE(get("bad"));
}

TEST_P(Concurrency, ReadersSeeWholeBatchesWithoutHoles) {
  create();
  std::atomic<bool> done = false;
  std::thread writer{[&] {
    for (int i = 0; i < 150; ++i) append({"a", "b", "c"});
    done = true;
  }};
  on_threads(2, [&](std::size_t) {
    while (!done) {
      const Records page = ok(store().read(key(), Offset{0}, {.records_max = 100'000}));
      ASSERT_EQ(page.items.size() % 3, 0u);
      ASSERT_TRUE(page.at_tail);
      for (std::size_t i = 0; i < page.items.size(); ++i) {
        ASSERT_EQ(page.items[i].offset.value, i);
        ASSERT_EQ(page.items[i].bytes, std::string(1, static_cast<char>('a' + i % 3)));
      }
    }
  });
  writer.join();
  EXPECT_EQ(records().size(), 450u);
}

TEST_P(Concurrency, ReadersOutrunTrimsAndRemovals) {
  fill(100, 10);
  std::atomic<bool> done = false;
  std::thread writer{[&] {
    for (std::uint64_t i = 1; i <= 150; ++i) {
      append({std::to_string(99 + i)});
      ok(commit_trim(Offset{i}));
    }
    ok(store().commit({.home = kHome, .removes = {{.log = "log"}}}));
    done = true;
  }};
  Offset from{};
  while (!done) {
    const auto page = store().read(key(), from);
    if (page) {
      for (const Record& record : page->items) {
        ASSERT_EQ(record.bytes, std::to_string(record.offset.value));
      }
    } else if (page.error().code == ErrorCode::kGone) {
      ASSERT_GT(page.error().actual, from.value);
      from = Offset{page.error().actual};
    } else {
      ASSERT_EQ(error_name(page.error().code), error_name(ErrorCode::kNotFound));
    }
  }
  writer.join();
}

TEST_P(Concurrency, AsyncCommitsAnswerOnceEach) {
  create();
  constexpr std::size_t kCount = 200;
  const std::string payload = "record";
  std::mutex mutex;
  std::condition_variable cv;
  std::vector<int> answers(kCount);
  std::set<std::uint64_t> offsets;
  std::size_t open = kCount;
  for (std::size_t i = 0; i < kCount; ++i) {
    Batch batch{.home = kHome, .appends = {{.log = i % 4 == 3 ? "missing" : "log"}}};
    batch.appends[0].records.emplace_back(payload);
    store().commit_async(std::move(batch), [&, i](Result<Committed> committed) {
      const std::lock_guard lock{mutex};
      ++answers[i];
      EXPECT_EQ(committed.has_value(), i % 4 != 3);
      if (committed) {
        EXPECT_TRUE(offsets.insert(committed->appends.at(0).first.value).second);
      } else {
        EXPECT_EQ(error_name(committed.error().code), error_name(ErrorCode::kNotFound));
      }
      --open;
      cv.notify_all();
    });
  }
  {
    std::unique_lock lock{mutex};
    ASSERT_TRUE(cv.wait_for(lock, std::chrono::seconds{30}, [&] { return open == 0; }));
    for (const int count : answers) EXPECT_EQ(count, 1);
    EXPECT_EQ(offsets.size(), kCount / 4 * 3);
    EXPECT_EQ(*offsets.rbegin(), kCount / 4 * 3 - 1);
  }
  EXPECT_EQ(records().size(), kCount / 4 * 3);
}

TEST_P(Concurrency, AsyncCommitsCanBeReadOnceAnswered) {
  create();
  for (int i = 0; i < 20; ++i) {
    std::promise<Result<Committed>> promise;
    auto answer = promise.get_future();
    store().commit_async({.home = kHome, .appends = {{.log = "log", .records = {"x"}}}},
                         [&](Result<Committed> done) { promise.set_value(std::move(done)); });
    const Offset next = ok(answer.get()).appends.at(0).next;
    EXPECT_EQ(ok(store().read(key(), Offset{0})).next, next);
  }
}

TEST_P(Concurrency, CommitsShareTransactions) {
  create();
  const StoreStats before = store().stats();
  on_threads(8, [&](std::size_t) {
    for (int i = 0; i < 25; ++i) append({"x"});
  });
  const StoreStats after = store().stats();
  EXPECT_EQ(after.commits - before.commits, 200u);
  EXPECT_LE(after.transactions - before.transactions, 200u);
  EXPECT_GE(after.transactions - before.transactions, 1u);
}

TEST_P(Concurrency, TwoObjectsOnTheSameDataAgree) {
  const auto other = under_test().open_another();
  if (!other) GTEST_SKIP() << "this store cannot be opened twice";
  create();
  on_threads(4, [&](std::size_t t) {
    Store& mine = t % 2 == 0 ? store() : *other;
    for (int i = 0; i < 40; ++i) {
      const std::string text = std::to_string(t) + "." + std::to_string(i);
      Batch batch{.home = kHome, .appends = {{.log = "log"}}};
      batch.appends[0].records.emplace_back(text);
      const Offset at = ok(mine.commit(batch)).appends.at(0).first;
      Store& theirs = t % 2 == 0 ? *other : store();
      EXPECT_EQ(ok(theirs.read(key(), at)).items.at(0).bytes, text);
    }
  });
  EXPECT_EQ(records().size(), 160u);
  const auto theirs = sim::read_all(*other, key(), Offset{0});
  EXPECT_EQ(theirs.problem, "");
  EXPECT_EQ(theirs.records, records());
}

INSTANTIATE_TEST_SUITE_P(All, Concurrency, testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace holdfast::suite
