// Cuts beneath many callers at once, blocking and not: commits share transactions then, and each
// caller is owed what it was told.
#include <gtest/gtest.h>

#include <condition_variable>
#include <cstdlib>
#include <iostream>
#include <latch>
#include <map>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include <holdfast/sqlite_store.h>

#include "sim/dump.h"
#include "sim/fault_vfs.h"
#include "sim/temp_dir.h"

namespace holdfast::crash {
namespace {

constexpr std::size_t kCallers = 4;
constexpr std::size_t kEach = 12;
constexpr const char* kShared = "all";

std::string own(std::size_t caller) { return fmt::format("of{}", caller); }
std::string text(std::size_t caller, std::size_t i) { return fmt::format("{}.{}", caller, i); }

// What callers were told.
struct Told {
  std::mutex mutex;
  std::array<std::size_t, kCallers> acknowledged{};  // each caller's commits, in its order
  std::map<std::uint64_t, std::string> shared;       // offsets given in the log that all share
};

class Crowd {
 public:
  Crowd(sim::Fault fault, std::uint64_t at, sim::Loss loss, Durability durability)
      : loss_{loss}, durability_{durability}, random_{at} {
    auto store = open();
    ok_ = store.has_value();
    if (!ok_) return;
    Batch batch{.home = "home", .creates = {{.log = kShared}}};
    for (std::size_t i = 0; i < kCallers; ++i) batch.creates.push_back({.log = own(i)});
    ok_ = (*store)->commit(batch).has_value();
    vfs_.disk().plan(fault, at);
    work(**store);
    struck_ = vfs_.disk().struck();
    calls_ = vfs_.disk().calls(fault == sim::Fault::kNone ? sim::Fault::kCut : fault);
    store->reset();
    vfs_.crash(loss_, random_);
    vfs_.disk().plan(sim::Fault::kNone, 0);
    judge();
  }

  [[nodiscard]] bool struck() const { return struck_; }
  [[nodiscard]] std::uint64_t calls() const { return calls_; }
  [[nodiscard]] const std::string& broken() const { return broken_; }

 private:
  Result<std::unique_ptr<SqliteStore>> open() {
    return open_sqlite_store(directory_.file("store.db"),
                             {.durability = durability_, .vfs = vfs_.name()});
  }

  // Half of the callers wait for each answer, the others send all at once.
  void work(Store& store) {
    std::latch start{kCallers};
    std::vector<std::thread> threads;
    for (std::size_t caller = 0; caller < kCallers; ++caller) {
      threads.emplace_back([&, caller] {
        start.arrive_and_wait();
        if (caller % 2 == 0) {
          wait_for_each(store, caller);
        } else {
          send_all(store, caller);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  static Batch batch_of(std::size_t caller, std::size_t i, const std::string& payload) {
    Batch batch{.home = "home", .appends = {{.log = own(caller)}, {.log = kShared}}};
    batch.appends[0].records.emplace_back(payload);
    batch.appends[0].expected_tail = Offset{i};  // so that one cannot pass over another
    batch.appends[1].records.emplace_back(payload);
    return batch;
  }

  void told(std::size_t caller, std::size_t i, const Result<Committed>& committed) {
    if (vfs_.disk().dead() || !committed) return;  // what is answered after the cut is nothing
    const std::lock_guard lock{told_.mutex};
    ++told_.acknowledged[caller];
    if (!told_.shared.emplace(committed->appends[1].first.value, text(caller, i)).second) {
      broken_ = "an offset was given twice";
    }
  }

  void wait_for_each(Store& store, std::size_t caller) {
    for (std::size_t i = 0; i < kEach; ++i) {
      const std::string payload = text(caller, i);
      const auto committed = store.commit(batch_of(caller, i, payload));
      told(caller, i, committed);
      if (!committed) return;
    }
  }

  void send_all(Store& store, std::size_t caller) {
    std::vector<std::string> payloads;
    for (std::size_t i = 0; i < kEach; ++i) payloads.push_back(text(caller, i));
    std::mutex mutex;
    std::condition_variable cv;
    std::size_t open = kEach;
    for (std::size_t i = 0; i < kEach; ++i) {
      store.commit_async(batch_of(caller, i, payloads[i]), [&, i](Result<Committed> committed) {
        told(caller, i, committed);
        const std::lock_guard lock{mutex};
        --open;
        cv.notify_all();
      });
    }
    std::unique_lock lock{mutex};
    cv.wait(lock, [&] { return open == 0; });
  }

  void judge() {
    const auto say = [&](std::string what) {
      if (broken_.empty()) broken_ = std::move(what);
    };
    auto store = open();
    if (!store) return say("not opened: " + store.error().message);
    const bool all_kept = durability_ == Durability::kFull || loss_ == sim::Loss::kProcess;
    if (!all_kept && !(*store)->tail({"home", kShared})) return;  // not even the logs were synced
    const auto shared = sim::read_all(**store, {"home", kShared}, Offset{0});
    if (!shared.problem.empty()) return say(shared.problem);
    std::size_t total = 0;
    for (std::size_t caller = 0; caller < kCallers; ++caller) {
      const auto mine = sim::read_all(**store, {"home", own(caller)}, Offset{0});
      if (!mine.problem.empty()) return say(mine.problem);
      total += mine.records.size();
      for (std::size_t i = 0; i < mine.records.size(); ++i) {
        if (mine.records[i] != text(caller, i)) say("a caller's records are out of order");
      }
      if (all_kept && mine.records.size() < told_.acknowledged[caller]) {
        say(fmt::format("caller {}: {} acknowledged, {} there", caller, told_.acknowledged[caller],
                        mine.records.size()));
      }
    }
    // Each batch wrote to two logs: both parts are there, or neither.
    if (total != shared.records.size()) say("a batch is there in part");
    for (const auto& [offset, payload] : told_.shared) {
      const bool there = offset < shared.records.size();
      if (there ? shared.records[offset] != payload : all_kept) {
        say(fmt::format("offset {} was acknowledged as {}", offset, payload));
      }
    }
    const auto checked = (*store)->check();
    if (!checked || !checked->faults.empty()) say("check found faults");
  }

  sim::Loss loss_;
  Durability durability_;
  sim::TempDir directory_;
  sim::FaultVfs vfs_;
  Random random_;
  Told told_;
  bool ok_ = false;
  bool struck_ = false;
  std::uint64_t calls_ = 0;
  std::string broken_;
};

TEST(CrashUnderACrowd, EveryCallerFindsWhatItWasTold) {
  const std::uint64_t stride = std::getenv("HOLDFAST_SOAK") != nullptr ? 1 : 2;
  std::uint64_t points = 0;
  for (const Durability durability : {Durability::kFull, Durability::kRelaxed}) {
    for (const sim::Fault fault : {sim::Fault::kCut, sim::Fault::kTear, sim::Fault::kSyncFails}) {
      for (std::uint64_t at = 1;; at += stride) {
        const sim::Loss loss = sim::kAllLosses[(at / stride) % sim::kAllLosses.size()];
        const Crowd crowd{fault, at, loss, durability};
        ASSERT_EQ(crowd.broken(), "")
            << sim::fault_name(fault) << " at " << at << ", " << sim::loss_name(loss);
        if (!crowd.struck()) break;
        ++points;
      }
    }
  }
  EXPECT_GT(points, 30u);
  std::cout << "[  POINTS  ] under a crowd: " << points << " tried\n";
}

}  // namespace
}  // namespace holdfast::crash
