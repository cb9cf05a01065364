#include "store/sqlite/writer_guard.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>

#include <array>
#include <optional>

#include "store/sqlite/bell_testing.h"
#include "store/sqlite/bell_watcher.h"

namespace holdfast::store {
namespace {

using namespace std::chrono_literals;
using testing::Calls;
using testing::Child;
using testing::kPatience;
using testing::TempStore;

/// Words that child processes share with the test: what a store's file is to real ones.
struct SharedMemory {
  SharedMemory()
      : words{static_cast<FutexWord*>(
            ::mmap(nullptr, 4'096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))} {}
  ~SharedMemory() { ::munmap(words, 4'096); }
  FutexWord& log() const { return words[0]; }
  FutexWord& stage() const { return words[1]; }
  FutexWord* words;
};

/// Waits, in whichever process, until the stage is reached.
void await_stage(FutexWord& stage, std::uint32_t wanted) {
  for (std::uint32_t now = stage.load(); now < wanted; now = stage.load()) futex_wait(stage, now);
}
void enter_stage(FutexWord& stage, std::uint32_t reached) {
  stage.store(reached);
  futex_wake(stage, kWakeAll, true);
}

class Deaths : public ::testing::TestWithParam<bool> {
 protected:
  void open(BellWatcherOptions options = {}) {
    options.one_word = GetParam();
    bell_ = std::move(*Bell::open(store_.path()));
    watcher_ = std::make_unique<BellWatcher>(*bell_, std::move(options));
  }
  Watch watch(BellSlot slot, WatchCallback changed) {
    return std::move(*watcher_->watch(slot, std::move(changed)));
  }
  /// Waits until the guard has nothing left to do.
  void settle() {
    std::uint64_t before = 0;
    do {
      before = watcher_->stats().guard_wakeups + watcher_->stats().wakeups;
      std::this_thread::sleep_for(30ms);
    } while (before != watcher_->stats().guard_wakeups + watcher_->stats().wakeups);
  }

  TempStore store_;
  SharedMemory memory_;
  std::unique_ptr<Bell> bell_;
  std::unique_ptr<BellWatcher> watcher_;
};

INSTANTIATE_TEST_SUITE_P(Waits, Deaths, ::testing::Values(false, true),
                         [](const auto& how) { return how.param ? "OneWord" : "EachGroup"; });

TEST_P(Deaths, S12_AWriterKilledBetweenCommitAndRingIsNoticed) {
  constexpr std::uint32_t kWriters = 40;
  std::vector<Child> writers;
  for (std::uint32_t i = 0; i < kWriters; ++i) {
    writers.emplace_back([this] {
      auto bell = Bell::open(store_.path());
      if (!bell) return 1;
      (*bell)->register_writer();
      memory_.log().fetch_add(1);  // the commit
      ::kill(::getpid(), SIGKILL);
      return 2;
    });
  }
  open();
  Calls calls;
  const Watch watched = watch(BellSlot{1}, calls.counting());
  for (std::uint32_t i = 0; i < kWriters; ++i) {
    const std::size_t before = calls.count();
    writers[i].go();
    ASSERT_TRUE(calls.reach(before + 1)) << "the death of writer " << i << " went unnoticed";
    EXPECT_EQ(writers[i].status(), -SIGKILL);
    EXPECT_EQ(memory_.log().load(), i + 1) << "the call came before the commit";
    settle();
  }
  EXPECT_TRUE(bell_->writers().empty()) << "places of the dead are cleared";
}

TEST_P(Deaths, S12_AWriterKilledAtAnyMomentLeavesNoReaderStuck) {
  // Each writer commits and rings in a loop until it is killed from outside, wherever it then is.
  constexpr int kWriters = 30;
  std::vector<Child> writers;
  for (int i = 0; i < kWriters; ++i) {
    writers.emplace_back([this] {
      auto bell = Bell::open(store_.path());
      if (!bell) return 1;
      (*bell)->register_writer();
      enter_stage(memory_.stage(), memory_.stage().load() + 1);
      for (;;) {
        memory_.log().fetch_add(1);
        (*bell)->ring(std::array{BellSlot{1}});
        ::usleep(50);
      }
    });
  }
  open();
  std::mutex mutex;
  std::condition_variable called;
  std::uint32_t read = 0;
  const Watch watched = watch(BellSlot{1}, [&] {
    const std::lock_guard guard{mutex};
    read = memory_.log().load();  // the reader that reads to the tail at each call
    called.notify_all();
  });
  for (int i = 0; i < kWriters; ++i) {
    writers[static_cast<std::size_t>(i)].go();
    await_stage(memory_.stage(), static_cast<std::uint32_t>(i) + 1);
    ::usleep(static_cast<useconds_t>(500 + i * 37));
    writers[static_cast<std::size_t>(i)].kill();
    (void)writers[static_cast<std::size_t>(i)].status();
    const std::uint32_t tail = memory_.log().load();
    std::unique_lock lock{mutex};
    ASSERT_TRUE(called.wait_for(lock, kPatience, [&] { return read == tail; })) << "kill " << i;
  }
}

TEST_P(Deaths, AWriterThatLeavesInOrderCallsNobody) {
  Child writer{[this] {
    auto bell = Bell::open(store_.path());
    (*bell)->register_writer();
    enter_stage(memory_.stage(), 1);
    await_stage(memory_.stage(), 2);
    return 0;
  }};
  open();
  Calls calls;
  const Watch watched = watch(BellSlot{1}, calls.counting());
  writer.go();
  await_stage(memory_.stage(), 1);
  settle();
  EXPECT_GE(watcher_->stats().guard_wakeups, 1u) << "the writer is watched from now on";
  enter_stage(memory_.stage(), 2);
  EXPECT_EQ(writer.status(), 0);
  settle();
  EXPECT_EQ(calls.count(), 0u);
}

TEST_P(Deaths, AWriterThatWasDeadBeforeAnybodyWatchedIsCleared) {
  Child writer{[this] {
    auto bell = Bell::open(store_.path());
    (*bell)->register_writer();
    ::kill(::getpid(), SIGKILL);
    return 0;
  }};
  open();
  writer.go();
  EXPECT_EQ(writer.status(), -SIGKILL);
  ASSERT_EQ(bell_->writers().size(), 1u);
  const Watch watched = watch(BellSlot{1}, [] {});
  settle();
  EXPECT_TRUE(bell_->writers().empty());
}

TEST_P(Deaths, ADeathThatAnotherProcessHasClearedIsNoticedToo) {
  open();
  Calls calls;
  const Watch watched = watch(BellSlot{1}, calls.counting());
  settle();
  WriterPlace& place = bell_->layout().writers[3];
  place.pid.store(1);  // listed and cleared before the guard could look
  bell_->reap(bell_->writers().at(0));
  EXPECT_TRUE(calls.reach(1));
}

TEST_P(Deaths, ANumberThatPassedToAnotherProcessIsADeath) {
  open();
  WriterPlace& place = bell_->layout().writers[3];
  place.pid_namespace.store(own_pid_namespace());
  place.pid.store(static_cast<std::uint32_t>(::getppid()));  // it lives, but has no place here
  const Watch watched = watch(BellSlot{1}, [] {});
  settle();
  EXPECT_TRUE(bell_->writers().empty());
  EXPECT_EQ(bell_->layout().deaths.load(), 1u);
}

TEST_P(Deaths, WithoutPidfdsAClockChecksOnlyWhileAWriterLives) {
  Child writer{[this] {
    auto bell = Bell::open(store_.path());
    (*bell)->register_writer();
    enter_stage(memory_.stage(), 1);
    await_stage(memory_.stage(), 2);
    return 0;
  }};
  std::atomic<std::uint64_t> checks{0};
  open({.changed_elsewhere =
            [&] {
              checks.fetch_add(1);
              return memory_.log().load() != 0;
            },
        .check_interval = 2ms,
        .without_pidfds = true});
  Calls calls;
  const Watch watched = watch(BellSlot{1}, calls.counting());
  settle();
  EXPECT_EQ(checks.load(), 0u) << "no other writer, no clock";
  writer.go();
  await_stage(memory_.stage(), 1);
  while (checks.load() < 5) std::this_thread::yield();
  EXPECT_EQ(calls.count(), 0u) << "nothing was committed";
  memory_.log().store(1);  // a commit without its ring
  EXPECT_TRUE(calls.reach(1));
  enter_stage(memory_.stage(), 2);
  EXPECT_EQ(writer.status(), 0);
  settle();
  const std::uint64_t last = checks.load();
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(checks.load(), last) << "the writer has left, the clock stands still";
}

TEST_P(Deaths, AWriterOfAnotherPidNamespaceIsCheckedByTheClockUntilItDies) {
  std::atomic<std::uint64_t> checks{0};
  open({.changed_elsewhere = [&] { return checks.fetch_add(1) == 3; }, .check_interval = 2ms});
  auto living = std::make_unique<testing::HeldPlaces>(store_.bell(), 0, 1);
  WriterPlace& place = bell_->layout().writers[0];
  place.pid_namespace.store(own_pid_namespace() + 1);
  place.pid.store(1);
  Calls calls;
  const Watch watched = watch(BellSlot{1}, calls.counting());
  ASSERT_TRUE(calls.reach(1)) << "at the fourth check something had been committed";
  EXPECT_EQ(bell_->writers().size(), 1u);
  living.reset();
  ASSERT_TRUE(calls.reach(2)) << "its death";
  settle();
  EXPECT_TRUE(bell_->writers().empty());
  const std::uint64_t last = checks.load();
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(checks.load(), last) << "the clock stands still";
}

TEST_P(Deaths, S12_AWriterInAnotherPidNamespaceIsHeardEvenIfItDiesBeforeItsRing) {
  constexpr std::uint32_t kRefused = 9;
  Child container{[this] {
    if (::unshare(CLONE_NEWPID) != 0) {
      enter_stage(memory_.stage(), kRefused);
      return 77;
    }
    const pid_t first = ::fork();  // number 1 of the new namespace
    if (first == 0) {
      auto bell = Bell::open(store_.path());
      if (!bell) return 1;
      (*bell)->register_writer();
      enter_stage(memory_.stage(), 1);
      await_stage(memory_.stage(), 2);
      memory_.log().store(1);       // the commit
      ::kill(::getpid(), SIGKILL);  // has no effect on number 1 from inside: leave without a word
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(first, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  }};
  open({.changed_elsewhere = [this] { return memory_.log().load() != 0; }, .check_interval = 5ms});
  Calls calls;
  const Watch watched = watch(BellSlot{1}, calls.counting());
  container.go();
  await_stage(memory_.stage(), 1);
  if (memory_.stage().load() == kRefused) GTEST_SKIP() << "only root can make a pid namespace";
  ASSERT_EQ(bell_->writers().size(), 1u);
  EXPECT_EQ(bell_->writers()[0].pid, 1u);
  enter_stage(memory_.stage(), 2);
  EXPECT_EQ(container.status(), 0);
  EXPECT_TRUE(calls.reach(1));
  settle();
  EXPECT_TRUE(bell_->writers().empty());
}

TEST_P(Deaths, S12_AReaderThatIsKilledDisturbsNobody) {
  std::vector<Child> readers;
  constexpr std::uint32_t kReaders = 10;
  for (std::uint32_t i = 0; i < kReaders; ++i) {
    readers.emplace_back([this] {
      auto bell = Bell::open(store_.path());
      BellWatcher watcher{**bell, {.one_word = GetParam()}};
      auto watched = watcher.watch(BellSlot{1}, [] {});
      enter_stage(memory_.stage(), memory_.stage().load() + 1);
      for (;;) ::pause();
      return 0;
    });
  }
  open();
  Calls calls;
  const Watch watched = watch(BellSlot{1}, calls.counting());
  for (std::uint32_t i = 0; i < kReaders; ++i) {
    readers[i].go();
    await_stage(memory_.stage(), i + 1);
    bell_->ring(std::array{BellSlot{1}});
    ASSERT_TRUE(calls.reach(2 * i + 1));
    readers[i].kill();
    EXPECT_EQ(readers[i].status(), -SIGKILL);
    bell_->ring(std::array{BellSlot{1}});
    ASSERT_TRUE(calls.reach(2 * i + 2));
  }
}

TEST_P(Deaths, S10_TenThousandFollowersHearAnotherProcess) {
  constexpr std::size_t kFollowers = 10'000;
  Child writer{[this] {
    auto bell = Bell::open(store_.path());
    (*bell)->register_writer();
    std::vector<BellSlot> slots;
    for (std::uint16_t i = 0; i < kBellCounters; ++i) slots.push_back(BellSlot{i});
    (*bell)->ring(slots);
    return 0;
  }};
  open();
  Calls calls;
  std::vector<Watch> watches;
  for (std::size_t i = 0; i < kFollowers; ++i) {
    const auto slot = static_cast<BellSlot>(static_cast<std::uint16_t>(i % kBellCounters));
    watches.push_back(watch(slot, calls.counting()));
  }
  writer.go();
  EXPECT_TRUE(calls.reach(kFollowers));
  EXPECT_EQ(writer.status(), 0);
  settle();
  EXPECT_EQ(calls.count(), kFollowers) << "each once";
}

}  // namespace
}  // namespace holdfast::store
