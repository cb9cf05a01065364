// Watches: at least one call after every commit that touches what is watched, none after the end.
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "store_suite.h"

namespace holdfast::suite {
namespace {

using namespace std::chrono_literals;

// Counts calls and waits for them. The long wait is only how a broken store fails.
class Calls {
 public:
  [[nodiscard]] WatchCallback callback() {
    return [this] {
      const std::lock_guard lock{mutex_};
      ++count_;
      changed_.notify_all();
    };
  }
  [[nodiscard]] std::uint64_t count() {
    const std::lock_guard lock{mutex_};
    return count_;
  }
  [[nodiscard]] bool wait_past(std::uint64_t seen) {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, 20s, [&] { return count_ > seen; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t count_ = 0;
};

class Watches : public StoreSuite {
 protected:
  // Commits, and waits for a call that came after the commit began.
  void expect_call(Calls& calls, const Batch& batch) {
    const std::uint64_t seen = calls.count();
    ok(store().commit(batch));
    EXPECT_TRUE(calls.wait_past(seen)) << "no call came after the commit";
  }
};

TEST_P(Watches, CallAfterEveryKindOfChangeOfALog) {
  Calls calls;
  const Watch watch = ok(store().watch(key(), calls.callback()));  // need not be there yet
  ASSERT_TRUE(watch);
  expect_call(calls, {.home = kHome, .creates = {{.log = "log"}}});
  expect_call(calls, {.home = kHome, .appends = {{.log = "log", .records = {"a", "b"}}}});
  expect_call(calls, {.home = kHome, .appends = {{.log = "log", .epoch = Epoch{2}}}});
  expect_call(calls, {.home = kHome, .appends = {{.log = "log", .close = true}}});
  expect_call(calls, {.home = kHome, .trims = {{.log = "log", .before = Offset{1}}}});
  expect_call(calls, {.home = kHome, .removes = {{.log = "log"}}});
}

TEST_P(Watches, CallAfterEveryKindOfChangeOfASpace) {
  Calls calls;
  const Watch watch = ok(store().watch_space("rows", calls.callback()));
  expect_call(calls, {.home = kHome, .puts = {{.space = "rows", .key = "k"}}});
  expect_call(calls, {.home = kHome, .puts = {{.space = "rows", .key = "k"}}});
  expect_call(calls, {.home = kHome, .deletes = {{.space = "rows", .key = "k"}}});
  expect_call(calls, {.home = "run/9",
                      .puts = {{.space = "other", .key = "k"}, {.space = "rows", .key = "k"}}});
}

TEST_P(Watches, S10_LoseNoWakeUpInTheOrderWatchReadWait) {
  create();
  constexpr std::uint64_t kRecords = 300;
  std::thread writer{[&] {
    for (std::uint64_t i = 0; i < kRecords; ++i) append({"record"});
  }};
  Calls calls;
  const Watch watch = ok(store().watch(key(), calls.callback()));
  Offset next{};
  bool woken = true;
  while (next.value < kRecords && woken) {
    const std::uint64_t seen = calls.count();
    next = ok(store().read(key(), next)).next;
    if (next.value < kRecords) woken = calls.wait_past(seen);
  }
  writer.join();
  EXPECT_TRUE(woken) << "a reader at " << next.value << " was never woken";
}

TEST_P(Watches, CallEachOfManyWatchers) {
  create();
  std::vector<Calls> calls(100);
  std::vector<Watch> watches;
  for (Calls& each : calls) watches.push_back(ok(store().watch(key(), each.callback())));
  append({"x"});
  for (Calls& each : calls) EXPECT_TRUE(each.wait_past(0));
}

TEST_P(Watches, CallNoMoreOnceDestroyed) {
  create();
  Calls ended;
  Calls living;
  for (int round = 0; round < 50; ++round) {
    Watch watch = ok(store().watch(key(), ended.callback()));
    append({"before"});
    watch = Watch{};
    const std::uint64_t last = ended.count();
    const Watch other = ok(store().watch(key(), living.callback()));
    const std::uint64_t seen = living.count();
    append({"after"});
    ASSERT_TRUE(living.wait_past(seen));
    ASSERT_EQ(ended.count(), last);
  }
}

TEST_P(Watches, EndOnlyWhenTheirCallbackHasReturned) {
  create();
  for (int round = 0; round < 20; ++round) {
    std::mutex mutex;
    std::condition_variable cv;
    bool inside = false;
    bool released = false;
    bool finished = false;
    Watch watch = ok(store().watch(key(), [&] {
      std::unique_lock lock{mutex};
      inside = true;
      cv.notify_all();
      cv.wait(lock, [&] { return released; });
      finished = true;
    }));
    append({"x"});
    {
      std::unique_lock lock{mutex};
      ASSERT_TRUE(cv.wait_for(lock, 20s, [&] { return inside; }));
    }
    std::thread releaser{[&] {
      for (int i = 0; i < 50; ++i) std::this_thread::yield();
      const std::lock_guard lock{mutex};
      released = true;
      cv.notify_all();
    }};
    watch = Watch{};  // blocks until the callback is through
    {
      const std::lock_guard lock{mutex};
      EXPECT_TRUE(finished);
    }
    releaser.join();
  }
}

TEST_P(Watches, S1_CostNothingWhileNothingIsCommitted) {
  fill(1'000);
  Calls calls;
  std::vector<Watch> watches;
  for (int i = 0; i < 10'000; ++i) watches.push_back(ok(store().watch(key(), calls.callback())));
  // A first change makes sure that the watching thread is up and back in its wait.
  append({"x"});
  ASSERT_TRUE(calls.wait_past(watches.size() - 1));
  StoreStats idle = store().stats();
  for (;;) {
    std::this_thread::sleep_for(20ms);
    const StoreStats now = store().stats();
    if (now.watcher_wakeups == idle.watcher_wakeups && now.wakes == idle.wakes) break;
    idle = now;
  }
  std::this_thread::sleep_for(300ms);
  const StoreStats after = store().stats();
  EXPECT_EQ(after.watcher_wakeups, idle.watcher_wakeups);
  EXPECT_EQ(after.wakes, idle.wakes);
  EXPECT_EQ(after.reads, idle.reads);
  EXPECT_EQ(after.rows_read, idle.rows_read);
}

TEST_P(Watches, SurviveChurnWhileOthersCommit) {
  create();
  std::thread writer{[&] {
    for (int i = 0; i < 200; ++i) append({"x"});
  }};
  std::vector<std::thread> watchers;
  for (int t = 0; t < 3; ++t) {
    watchers.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        Calls calls;
        const Watch a = ok(store().watch(key(), calls.callback()));
        const Watch b = ok(store().watch_space("rows", calls.callback()));
      }
    });
  }
  writer.join();
  for (std::thread& watcher : watchers) watcher.join();
  EXPECT_EQ(tail().tail, Offset{200});
}

TEST_P(Watches, S10_CallAfterCommitsOfAnotherObjectOnTheSameData) {
  const auto other = under_test().open_another();
  if (!other) GTEST_SKIP() << "this store cannot be opened twice";
  create();
  Calls calls;
  Calls rows;
  const Watch watch = ok(store().watch(key(), calls.callback()));
  const Watch space = ok(store().watch_space("rows", rows.callback()));
  for (int i = 0; i < 50; ++i) {
    const std::uint64_t seen = calls.count();
    const std::uint64_t seen_rows = rows.count();
    ok(other->commit({.home = kHome,
                      .appends = {{.log = "log", .records = {"x"}}},
                      .puts = {{.space = "rows", .key = "k"}}}));
    ASSERT_TRUE(calls.wait_past(seen));
    ASSERT_TRUE(rows.wait_past(seen_rows));
    ASSERT_EQ(tail().tail.value, static_cast<std::uint64_t>(i + 1));
  }
}

INSTANTIATE_TEST_SUITE_P(All, Watches, testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace holdfast::suite
