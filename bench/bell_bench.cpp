// The figures of the doorbell alone, without a store: what a ring costs, how long it takes to
// another process, what waiting costs.
//
//   bell_bench OUT.jsonl DIRECTORY [--smoke]
//   bell_bench --answer STORE COUNT         (what it starts for the other process)
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "harness.h"
#include "machine.h"
#include "store/sqlite/bell.h"
#include "store/sqlite/bell_watcher.h"

namespace holdfast::bench {
namespace {

namespace fs = std::filesystem;
using store::Bell;
using store::BellSlot;
using store::BellWatcher;

constexpr BellSlot kThere{7};
constexpr BellSlot kBack{2'007};
constexpr std::uint64_t kFollowers = 10'000;

double ring_cpu_us(Bell& bell, BellSlot slot, int count) {
  const std::array slots{slot};
  const auto began = thread_cpu_us();
  for (int i = 0; i < count; ++i) bell.ring(slots);
  return (thread_cpu_us() - began) / count;
}

void measure_ring(const Report& report, const std::string& path, int rounds) {
  const auto bell = must(Bell::open(path), "open");
  BellWatcher watcher{*bell};
  const auto elsewhere = must(watcher.watch(kThere, [] {}), "watch");
  const auto figures = alternate(rounds, {[&] { return ring_cpu_us(*bell, kBack, 20'000); },
                                          [&] { return ring_cpu_us(*bell, kThere, 2'000); }});
  report.add(
      {.name = "bell.ring.unwatched", .n = 1, .unit = "us_cpu", .value = figures[0], .limit = 0.2});
  report.add({.name = "bell.ring.watched",
              .n = 1,
              .unit = "us_cpu",
              .value = figures[1],
              .note = "with the wake of one process"});
}

/// CPU of the watching thread for one ring of the counter that all watch, per watch.
void measure_dispatch(const Report& report, const std::string& path, int rounds) {
  const auto bell = must(Bell::open(path), "open");
  BellWatcher watcher{*bell};
  std::atomic<std::uint64_t> called{0};
  std::vector<Watch> watches;
  for (std::uint64_t i = 0; i < kFollowers; ++i) {
    watches.push_back(must(watcher.watch(kThere, [&] { called.fetch_add(1); }), "watch"));
  }
  std::vector<double> samples;
  for (int i = 0; i < rounds; ++i) {
    const auto target = called.load() + kFollowers;
    const auto cpu = process_cpu_us() - thread_cpu_us();
    bell->ring(std::array{kThere});
    while (called.load() < target) std::this_thread::sleep_for(std::chrono::milliseconds{1});
    samples.push_back(process_cpu_us() - thread_cpu_us() - cpu);
  }
  report.add({.name = "bell.dispatch",
              .n = kFollowers,
              .unit = "us_cpu",
              .value = median(samples) / static_cast<double>(kFollowers),
              .limit = 1,
              .note = "per follower of one log, other threads' CPU"});
}

void measure_idle(const Report& report, const std::string& path, int seconds) {
  const auto bell = must(Bell::open(path), "open");
  BellWatcher watcher{*bell};
  std::vector<Watch> watches;
  for (std::uint64_t i = 0; i < kFollowers; ++i) {
    const auto slot = static_cast<BellSlot>(static_cast<std::uint16_t>(i % store::kBellCounters));
    watches.push_back(must(watcher.watch(slot, [] {}), "watch"));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds{200});
  const auto slept = sleeps();
  const auto wakeups = watcher.stats().wakeups;
  const auto cpu = process_cpu_us() - thread_cpu_us();
  std::this_thread::sleep_for(std::chrono::seconds{seconds});
  // Two clocks read one after the other: nothing at all may come out just below 0.
  const auto spent = std::max(0.0, process_cpu_us() - thread_cpu_us() - cpu);
  report.add({.name = "bell.idle.cpu",
              .n = kFollowers,
              .unit = "percent",
              .value = spent / (seconds * 1e4),
              .limit = 0.005});
  report.add({.name = "bell.idle.wakeups",
              .n = kFollowers,
              .unit = "count",
              .value = static_cast<double>(sleeps() - slept + watcher.stats().wakeups - wakeups),
              .limit = 0});
}

/// Rings back each time it is rung; each way passes through a watching thread.
int answer(const std::string& path, int count) {
  const auto bell = must(Bell::open(path), "open");
  std::atomic<int> answered{0};
  std::atomic<int> done{0};
  BellWatcher watcher{*bell};
  const auto watched = must(watcher.watch(kThere,
                                          [&] {
                                            bell->ring(std::array{kBack});
                                            if (++answered >= count) {
                                              done.store(1);
                                              done.notify_one();
                                            }
                                          }),
                            "watch");
  std::printf("ready\n");
  std::fflush(stdout);
  done.wait(0);
  return 0;
}

void measure_latency(const Report& report, const std::string& path, const std::string& self,
                     int count) {
  const auto bell = must(Bell::open(path), "open");
  BellWatcher watcher{*bell};
  std::atomic<int> heard{0};
  std::atomic<double> heard_at{0};
  const auto watched = must(watcher.watch(kBack,
                                          [&] {
                                            heard_at.store(wall_us());
                                            ++heard;
                                            heard.notify_one();
                                          }),
                            "watch");
  const auto command = self + " --answer '" + path + "' " + std::to_string(count);
  FILE* other = popen(command.c_str(), "r");
  std::array<char, 16> line{};
  if (other == nullptr || std::fgets(line.data(), line.size(), other) == nullptr) {
    give_up("the other process does not answer");
  }
  std::vector<double> samples;
  for (int i = 0; i < count; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
    const auto began = wall_us();
    bell->ring(std::array{kThere});
    heard.wait(i);
    samples.push_back((heard_at.load() - began) / 2);
  }
  pclose(other);
  const auto bare = futex_ping_us(count);
  report.add({.name = "bell.ring_to_callback.p50",
              .n = 1,
              .unit = "us",
              .value = percentile(samples, 50),
              .machine = percentile(bare, 50),
              .note = "other process, half of there and back; machine: a bare futex wake"});
  report.add({.name = "bell.ring_to_callback.p99",
              .n = 1,
              .unit = "us",
              .value = percentile(samples, 99),
              .machine = percentile(bare, 99)});
}

int run(int argc, char** argv) {
  const std::vector<std::string> args{argv, argv + argc};
  if (args.size() == 4 && args[1] == "--answer") return answer(args[2], std::stoi(args[3]));
  if (args.size() < 3) give_up("usage: bell_bench OUT.jsonl DIRECTORY [--smoke]");
  const TemporaryDirectory place{args[2]};
  const Report report{args[1]};
  const bool smoke = args.size() > 3 && args[3] == "--smoke";
  const auto path = (place.path() / "store.db").string();
  std::ofstream{path} << "x";
  measure_ring(report, path, smoke ? 3 : 9);
  measure_dispatch(report, path, smoke ? 3 : 15);
  measure_idle(report, path, smoke ? 1 : 3);
  measure_latency(report, path, fs::read_symlink("/proc/self/exe").string(), smoke ? 100 : 1'000);
  return 0;
}

}  // namespace
}  // namespace holdfast::bench

int main(int argc, char** argv) { return holdfast::bench::run(argc, argv); }
