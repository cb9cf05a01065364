#include "store/sqlite/bell_watcher.h"

#include <gtest/gtest.h>

#include <array>
#include <semaphore>
#include <thread>

#include "store/sqlite/bell.h"
#include "store/sqlite/bell_testing.h"

namespace holdfast::store {
namespace {

using namespace std::chrono_literals;
using testing::Calls;
using testing::kPatience;
using testing::TempStore;

/// Both ways to wait must do the same.
class Watcher : public ::testing::TestWithParam<bool> {
 protected:
  Watcher() : bell_{std::move(*Bell::open(store_.path()))}, watcher_{make(*bell_)} {}
  [[nodiscard]] static std::unique_ptr<BellWatcher> make(Bell& bell) {
    return std::make_unique<BellWatcher>(bell, BellWatcherOptions{.one_word = GetParam()});
  }
  void ring(BellSlot slot) { bell_->ring(std::array{slot}); }
  Watch watch(BellSlot slot, WatchCallback changed) {
    auto made = watcher_->watch(slot, std::move(changed));
    EXPECT_TRUE(made.has_value());
    return std::move(*made);
  }

  TempStore store_;
  std::unique_ptr<Bell> bell_;
  std::unique_ptr<BellWatcher> watcher_;
};

INSTANTIATE_TEST_SUITE_P(Waits, Watcher, ::testing::Values(false, true),
                         [](const auto& how) { return how.param ? "OneWord" : "EachGroup"; });

TEST_P(Watcher, IsCalledAfterEveryRing) {
  Calls calls;
  const Watch watched = watch(BellSlot{5}, calls.counting());
  for (std::size_t i = 1; i <= 100; ++i) {
    ring(BellSlot{5});
    ASSERT_TRUE(calls.reach(i)) << "ring " << i;
  }
}

TEST_P(Watcher, RingsOfOtherCountersCallNobody) {
  Calls mine;
  Calls neighbour;
  const Watch watched = watch(BellSlot{5}, mine.counting());
  const Watch other = watch(BellSlot{6}, neighbour.counting());
  for (std::size_t i = 1; i <= 50; ++i) {
    ring(BellSlot{6});
    ring(BellSlot{4'000});
    ASSERT_TRUE(neighbour.reach(i));
  }
  EXPECT_EQ(mine.count(), 0u);
}

TEST_P(Watcher, OneRingOfManySlotsCallsEachOnce) {
  std::array<Calls, 40> calls;
  std::vector<Watch> watches;
  std::vector<BellSlot> slots;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    slots.push_back(static_cast<BellSlot>(static_cast<std::uint16_t>(i * 100)));
    watches.push_back(watch(slots.back(), calls[i].counting()));
  }
  bell_->ring(slots);
  for (Calls& each : calls) EXPECT_TRUE(each.reach(1));
}

TEST_P(Watcher, EndedWatchesAreNotCalled) {
  Calls ended;
  Calls kept;
  const Watch watched = watch(BellSlot{9}, kept.counting());
  {
    const Watch brief = watch(BellSlot{9}, ended.counting());
  }
  ring(BellSlot{9});
  ASSERT_TRUE(kept.reach(1));
  EXPECT_EQ(ended.count(), 0u);
}

TEST_P(Watcher, EndingAWatchWaitsForItsCallback) {
  std::binary_semaphore entered{0};
  std::binary_semaphore leave{0};
  std::atomic<bool> alive{true};
  std::atomic<int> calls_after_end{0};
  auto watched = std::make_unique<Watch>(watch(BellSlot{1}, [&] {
    entered.release();
    leave.acquire();
    if (!alive.load()) ++calls_after_end;
  }));
  ring(BellSlot{1});
  entered.acquire();
  std::jthread release{[&] { leave.release(); }};
  watched.reset();
  alive.store(false);
  ring(BellSlot{1});
  EXPECT_EQ(calls_after_end.load(), 0);
}

TEST_P(Watcher, ACallbackMayMakeAndEndOtherWatches) {
  Calls made;
  Calls ended;
  Calls done;
  Watch later;
  Watch victim;
  const Watch watched = watch(BellSlot{3}, [&] {
    if (!later) later = watch(BellSlot{2'000}, made.counting());
    victim = Watch{};
    done.counting()();
  });
  victim = watch(BellSlot{3}, ended.counting());
  ring(BellSlot{3});
  ASSERT_TRUE(done.reach(1));
  ring(BellSlot{2'000});
  EXPECT_TRUE(made.reach(1));
  EXPECT_EQ(ended.count(), 0u) << "it was due, but ended before its turn";
}

TEST_P(Watcher, TenThousandWatchesOfOneCounterAreAllCalled) {
  constexpr std::size_t kWatches = 10'000;
  Calls calls;
  std::vector<Watch> watches;
  for (std::size_t i = 0; i < kWatches; ++i)
    watches.push_back(watch(BellSlot{7}, calls.counting()));
  ring(BellSlot{7});
  EXPECT_TRUE(calls.reach(kWatches));
}

TEST_P(Watcher, ARingCostsItsOwnWatchesAndNoOthers) {
  constexpr std::size_t kWatches = 10'000;
  Calls calls;
  std::vector<Watch> watches;
  for (std::size_t i = 0; i < kWatches; ++i) {
    const auto slot =
        static_cast<BellSlot>(static_cast<std::uint16_t>(1 + i % (kBellCounters - 1)));
    watches.push_back(watch(slot, [] {}));
  }
  watches.push_back(watch(BellSlot{0}, calls.counting()));
  const std::uint64_t before = watcher_->stats().callbacks;
  for (std::size_t i = 1; i <= 100; ++i) {
    ring(BellSlot{0});
    ASSERT_TRUE(calls.reach(i));
  }
  watches.pop_back();  // waits for the last call to be counted
  EXPECT_EQ(watcher_->stats().callbacks - before, 100u);
}

TEST_P(Watcher, IdleItSleepsWhateverTheNumberOfWatches) {
  std::vector<Watch> watches;
  for (std::size_t i = 0; i < 10'000; ++i) {
    const auto slot = static_cast<BellSlot>(static_cast<std::uint16_t>(i % kBellCounters));
    watches.push_back(watch(slot, [] {}));
  }
  std::uint64_t settled = 0;
  do {  // the thread still takes up the last groups
    settled = watcher_->stats().wakeups;
    std::this_thread::sleep_for(50ms);
  } while (watcher_->stats().wakeups != settled);
  const std::uint64_t sleeps = testing::sleeps_of_watching_threads();
  const std::uint64_t cpu_ns = testing::cpu_ns_of_watching_threads();
  ASSERT_GT(sleeps, 0u);
  std::this_thread::sleep_for(1s);
  EXPECT_EQ(watcher_->stats().wakeups, settled);
  EXPECT_EQ(watcher_->stats().callbacks, 0u);
  EXPECT_EQ(testing::sleeps_of_watching_threads(), sleeps) << "as the kernel counts them";
  EXPECT_EQ(testing::cpu_ns_of_watching_threads(), cpu_ns) << "as the kernel counts it";
}

TEST_P(Watcher, NobodyWatchingCostsNoWake) {
  {
    const Watch brief = watch(BellSlot{9}, [] {});
  }
  EXPECT_EQ(bell_->layout().groups[0].watchers.load(), 0u);
  const Watch watched = watch(BellSlot{100}, [] {});
  EXPECT_EQ(bell_->layout().groups[1].watchers.load(), 1u);
}

TEST_P(Watcher, NoWakeUpIsLostWhileWatchesComeAndGo) {
  // A value stands for the log, a ring follows each change; the reader watches, reads, waits, and
  // starts again from nothing each round.
  constexpr std::uint32_t kCommits = 20'000;
  std::atomic<std::uint32_t> log{0};
  std::jthread writer{[&] {
    for (std::uint32_t i = 0; i < kCommits; ++i) {
      log.fetch_add(1);
      ring(BellSlot{static_cast<std::uint16_t>(i % 3 * 1'500)});
    }
    for (std::uint16_t slot = 0; slot < 3; ++slot) {
      log.fetch_add(1);
      ring(BellSlot{static_cast<std::uint16_t>(slot * 1'500)});
    }
  }};
  std::array<std::jthread, 3> readers;
  std::atomic<int> stuck{0};
  for (std::uint16_t r = 0; r < readers.size(); ++r) {
    readers[r] = std::jthread{[&, r] {
      const auto slot = static_cast<BellSlot>(static_cast<std::uint16_t>(r * 1'500));
      std::uint32_t read = 0;
      while (read < kCommits + 1 + r) {
        std::binary_semaphore called{0};
        std::atomic<bool> once{false};
        const Watch watched = watch(slot, [&] {
          if (!once.exchange(true)) called.release();
        });
        const std::uint32_t now = log.load();
        if (now > read) {
          read = now;
          continue;
        }
        // Only a change after the last ring of this counter may be missing.
        if (!called.try_acquire_for(kPatience)) {
          ++stuck;
          return;
        }
      }
    }};
  }
  for (std::jthread& reader : readers) reader.join();
  EXPECT_EQ(stuck.load(), 0);
}

TEST_P(Watcher, ThreadsMayWatchRingAndEndAtWill) {
  constexpr int kThreads = 4;
  std::array<std::jthread, kThreads> threads;
  std::atomic<std::uint64_t> calls{0};
  for (std::uint32_t t = 0; t < kThreads; ++t) {
    threads[t] = std::jthread{[&, t] {
      std::uint32_t state = t + 1;
      std::vector<Watch> watches;
      for (int i = 0; i < 2'000; ++i) {
        state = state * 1'664'525u + 1'013'904'223u;
        const auto slot = static_cast<BellSlot>(static_cast<std::uint16_t>((state >> 8) % 4'096));
        watches.push_back(watch(slot, [&] { calls.fetch_add(1); }));
        ring(slot);
        if (watches.size() > 20) watches.erase(watches.begin() + (state >> 20) % 20);
      }
    }};
  }
  for (std::jthread& thread : threads) thread.join();
  EXPECT_EQ(watcher_->stats().watches, 0u);
  for (const BellGroup& group : bell_->layout().groups) EXPECT_EQ(group.watchers.load(), 0u);
}

TEST_P(Watcher, TwoStoresOfOneProcessHearEachOther) {
  auto other = Bell::open(store_.path());
  ASSERT_TRUE(other.has_value());
  Calls calls;
  const Watch watched = watch(BellSlot{77}, calls.counting());
  (*other)->ring(std::array{BellSlot{77}});
  EXPECT_TRUE(calls.reach(1));
}

}  // namespace
}  // namespace holdfast::store
