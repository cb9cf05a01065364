// Every call that the store makes of the disk, cut, torn, refused or forgotten: what was
// acknowledged is there afterwards, whole and in order.
//
// Each test tries one kind of fault at every call it can strike. What a power loss leaves is varied
// from call to call; HOLDFAST_SOAK=1 tries all of it at each, and longer workloads.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "crash/crash_run.h"

namespace holdfast::crash {
namespace {

bool soaking() { return std::getenv("HOLDFAST_SOAK") != nullptr; }

std::size_t commits() { return soaking() ? 96 : 36; }

struct Tried {
  std::uint64_t points = 0;
  std::uint64_t calls = 0;  // of a run without faults
};

// All calls that the fault can strike; `stride` leaves some out.
Tried try_all(sim::Fault fault, const RunOptions& options, std::uint64_t stride = 1) {
  if (soaking()) stride = 1;
  const Workload workload{7, commits()};
  Tried tried{.calls = Run::calls(workload, options, fault)};
  EXPECT_GT(tried.calls, 0u) << "the workload fails without a fault";
  for (std::uint64_t at = 1; at <= tried.calls; at += stride) {
    const std::size_t losses = soaking() ? sim::kAllLosses.size() : 1;
    for (std::size_t i = 0; i < losses; ++i) {
      const sim::Loss loss = sim::kAllLosses[(at / stride + i) % sim::kAllLosses.size()];
      Run run{workload, options, {.fault = fault, .at = at, .loss = loss}};
      const Judgement judgement = run.judge();
      EXPECT_EQ(judgement.broken, "");
      // With work in the background, the last calls may come to nothing in another order.
      EXPECT_TRUE(judgement.struck || options.background) << "call " << at;
      if (judgement.struck) ++tried.points;
      if (testing::Test::HasFailure()) return tried;
    }
  }
  EXPECT_GE(tried.points, options.background ? tried.calls / stride / 2 : tried.calls / stride);
  std::cout << "[  POINTS  ] " << sim::fault_name(fault) << ": " << tried.points << " tried of "
            << tried.calls << " calls\n";
  testing::Test::RecordProperty("points", static_cast<int>(tried.points));
  return tried;
}

TEST(Crash, TheWorkloadMakesTheSameCallsEveryTime) {
  const Workload workload{7, commits()};
  std::uint64_t points = 0;
  for (const sim::Fault fault : sim::kAllFaults) {
    const std::uint64_t calls = Run::calls(workload, {}, fault);
    EXPECT_GT(calls, 10u) << sim::fault_name(fault);
    EXPECT_EQ(Run::calls(workload, {}, fault), calls) << sim::fault_name(fault);
    points += calls;
  }
  // The tests below try a fault at each of these: more of them than there are calls of the disk.
  const std::uint64_t calls = Run::calls(workload, {}, sim::Fault::kNone);
  EXPECT_GE(points, calls);
  std::cout << "[  POINTS  ] " << points << " points, " << calls << " calls of the disk\n";
}

TEST(Crash, S12_NothingAcknowledgedIsLostWhereverItIsCut) { try_all(sim::Fault::kCut, {}); }

TEST(Crash, NothingAcknowledgedIsLostWhicheverWriteIsTorn) { try_all(sim::Fault::kTear, {}); }

TEST(Crash, E1_AFullDiskIsSaidAndWorkGoesOnWhenThereIsSpace) { try_all(sim::Fault::kDiskFull, {}); }

TEST(Crash, AFailedSyncStopsTheStoreUntilItIsReopened) { try_all(sim::Fault::kSyncFails, {}); }

TEST(Crash, AFailedWriteRefusesItsCommitAndNoOther) { try_all(sim::Fault::kWriteFails, {}); }

TEST(Crash, AFailedReadRefusesItsCommitAndNoOther) { try_all(sim::Fault::kReadFails, {}, 2); }

TEST(Crash, RelaxedKeepsAPrefixWhereverItIsCut) {
  const RunOptions relaxed{.durability = Durability::kRelaxed};
  try_all(sim::Fault::kCut, relaxed);
  try_all(sim::Fault::kTear, relaxed, 3);
}

TEST(Crash, RelaxedSurvivesRefusals) {
  const RunOptions relaxed{.durability = Durability::kRelaxed};
  try_all(sim::Fault::kDiskFull, relaxed, 3);
  try_all(sim::Fault::kSyncFails, relaxed);
  try_all(sim::Fault::kWriteFails, relaxed, 3);
}

TEST(Crash, WorkInTheBackgroundChangesNothing) {
  for (const Durability durability : {Durability::kFull, Durability::kRelaxed}) {
    const RunOptions background{.durability = durability, .background = true};
    for (const sim::Fault fault : {sim::Fault::kCut, sim::Fault::kTear, sim::Fault::kDiskFull,
                                   sim::Fault::kSyncFails, sim::Fault::kWriteFails}) {
      try_all(fault, background, 7);
    }
  }
}

}  // namespace
}  // namespace holdfast::crash
