// What the SQLite store itself costs, below the streams: CPU per operation on the calling thread
// and of the whole process, syncs per commit, bytes on disk. For those who work on the store;
// streams_bench has the figures that the project promises.
//
//   store_bench OUT.jsonl DIRECTORY SESSION.zst [--smoke] [PART]
//
// PART: relaxed, reading, full or space; all without it.
#include <atomic>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <holdfast/sqlite_store.h>

#include "harness.h"

namespace holdfast::bench {
namespace {

namespace fs = std::filesystem;

const LogKey kLog{"stream/bench", "log"};

struct Bench {
  Report report;
  fs::path directory;
  std::vector<std::string> lines;
  std::size_t scale = 1;  // divides lengths and counts

  void say(std::string name, std::uint64_t n, std::string unit, double value) const {
    report.add({.name = std::move(name), .n = n, .unit = std::move(unit), .value = value});
  }
  [[nodiscard]] std::unique_ptr<SqliteStore> open(const std::string& name, Durability durability,
                                                  bool background_seal = false) const {
    auto store = open_sqlite_store((directory / name).string(),
                                   {.durability = durability, .background_seal = background_seal});
    if (!store) die(store.error());
    return std::move(*store);
  }
  [[noreturn]] static void die(const Error& error) {
    std::fprintf(stderr, "store_bench: %s\n", error.message.c_str());
    std::exit(1);
  }
};

template <typename T>
T must(Result<T> result) {
  if (!result) Bench::die(result.error());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

void create(Store& store, const std::string& log = kLog.log) {
  must(store.commit({.home = kLog.home, .creates = {{.log = log, .if_missing = true}}}));
}

// Appends `count` lines in batches.
void append(const Bench& bench, Store& store, std::size_t count, std::size_t per_batch,
            const std::string& log = kLog.log) {
  Batch batch{.home = kLog.home, .appends = {{.log = log}}};
  for (std::size_t at = 0; at < count; at += per_batch) {
    batch.appends[0].records.clear();
    for (std::size_t i = at; i < at + per_batch; ++i) {
      batch.appends[0].records.emplace_back(bench.lines[i % bench.lines.size()]);
    }
    must(store.commit(batch));
  }
}

double read_all_ms(Store& store, std::size_t count) {
  const double began = thread_cpu_us();
  std::size_t seen = 0;
  Offset at{};
  for (;;) {
    const Records page = must(store.read(kLog, at));
    seen += page.items.size();
    at = page.next;
    if (page.at_tail) break;
  }
  const double took = (thread_cpu_us() - began) / 1'000;
  if (seen != count) std::fprintf(stderr, "read %zu of %zu\n", seen, count);
  return took;
}

void relaxed(const Bench& bench) {
  const std::size_t count = 100'000 / bench.scale;
  for (const std::size_t per_batch : {1u, 32u}) {
    auto store = bench.open("relaxed" + std::to_string(per_batch), Durability::kRelaxed);
    create(*store);
    append(bench, *store, 10'000, per_batch);
    const double thread = thread_cpu_us();
    const double process = process_cpu_us();
    const std::size_t n = count / per_batch * per_batch;
    append(bench, *store, n, per_batch);
    const auto of = [&](double us) { return us / static_cast<double>(n); };
    bench.say("append.relaxed.thread", per_batch, "us_cpu", of(thread_cpu_us() - thread));
    bench.say("append.relaxed.process", per_batch, "us_cpu", of(process_cpu_us() - process));
  }
}

void reading(const Bench& bench, std::size_t length, std::size_t per_batch) {
  const std::string name = "read" + std::to_string(length) + "by" + std::to_string(per_batch);
  auto store = bench.open(name, Durability::kRelaxed);
  create(*store);
  append(bench, *store, length, per_batch);
  constexpr std::size_t kTails = 20'000;
  for (int i = 0; i < 100; ++i) must(store->tail(kLog));
  const double began = thread_cpu_us();
  for (std::size_t i = 0; i < kTails; ++i) must(store->tail(kLog));
  bench.say("tail", length, "us_cpu", (thread_cpu_us() - began) / kTails);
  std::vector<double> samples;
  for (int i = 0; i < 5; ++i) samples.push_back(read_all_ms(*store, length));
  bench.say("read.hot.by" + std::to_string(per_batch), length, "ms_cpu", median(samples));
  const double sealing = process_cpu_us();
  must(store->seal());
  bench.say("seal", length, "ms_cpu", (process_cpu_us() - sealing) / 1'000);
  samples.clear();
  for (int i = 0; i < 5; ++i) samples.push_back(read_all_ms(*store, length));
  bench.say("read.sealed.by" + std::to_string(per_batch), length, "ms_cpu", median(samples));
}

// Each producer appends to a log of its own, lone commits.
void full(const Bench& bench) {
  const std::size_t count = 2'000 / bench.scale;
  double one = 0;
  for (const std::size_t producers : {1u, 64u}) {
    auto store = bench.open("full" + std::to_string(producers), Durability::kFull);
    for (std::size_t i = 0; i < producers; ++i) create(*store, "log" + std::to_string(i));
    const StoreStats before = store->stats();
    const double process = process_cpu_us();
    const double wall = wall_us();
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < producers; ++i) {
      threads.emplace_back([&, i] { append(bench, *store, count, 1, "log" + std::to_string(i)); });
    }
    for (std::thread& thread : threads) thread.join();
    const double took = wall_us() - wall;
    const StoreStats after = store->stats();
    const auto commits = static_cast<double>(after.commits - before.commits);
    const double rate = commits / took * 1e6;
    if (producers == 1) one = rate;
    bench.say("append.full.rate", producers, "per_s", rate);
    bench.say("append.full.cpu", producers, "us_cpu", (process_cpu_us() - process) / commits);
    bench.say("append.full.syncs_per_commit", producers, "syncs",
              static_cast<double>(after.syncs - before.syncs) / commits);
    if (producers > 1) bench.say("append.full.speedup", producers, "times", rate / one);
  }
}

void space(const Bench& bench) {
  std::uint64_t payload = 0;
  for (const std::string& line : bench.lines) payload += line.size();
  const auto ratio = [&](const std::string& name) {
    return static_cast<double>(bytes_on_disk(bench.directory / name)) /
           static_cast<double>(payload);
  };
  for (const std::size_t per_batch : {1u, 1'000u}) {
    const std::string name = "space" + std::to_string(per_batch);
    auto store = bench.open(name, Durability::kRelaxed);
    create(*store);
    append(bench, *store, bench.lines.size() / per_batch * per_batch, per_batch);
    store.reset();
    bench.say("space.hot.by" + std::to_string(per_batch), bench.lines.size(), "ratio", ratio(name));
    store = bench.open(name, Durability::kRelaxed);
    must(store->seal());
    must(store->compact());
    store.reset();
    bench.say("space.sealed.by" + std::to_string(per_batch), bench.lines.size(), "ratio",
              ratio(name));
  }
}

}  // namespace
}  // namespace holdfast::bench

int main(int argc, char** argv) {
  using namespace holdfast::bench;
  if (argc < 4) {
    std::fprintf(stderr, "usage: store_bench OUT.jsonl DIRECTORY SESSION.zst [--smoke] [PART]\n");
    return 2;
  }
  bool smoke = false;
  std::string part;
  for (int i = 4; i < argc; ++i) {
    if (std::strcmp(argv[i], "--smoke") == 0) {
      smoke = true;
    } else {
      part = argv[i];
    }
  }
  const auto wanted = [&](const char* name) { return part.empty() || part == name; };
  const TemporaryDirectory directory{argv[2]};
  const Bench bench{.report = Report{argv[1]},
                    .directory = directory.path(),
                    .lines = session_lines(argv[3]),
                    .scale = smoke ? 10u : 1u};
  if (wanted("relaxed")) relaxed(bench);
  if (wanted("reading")) {
    reading(bench, 25'000, 1'000);
    reading(bench, 1'000'000 / bench.scale, 1'000);
    reading(bench, 1'000'000 / bench.scale, 1);
  }
  if (wanted("full")) full(bench);
  if (wanted("space")) space(bench);
  return 0;
}
