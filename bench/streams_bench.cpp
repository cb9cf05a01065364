// The figures of streams on the embedded store, within one process and between two.
//
//   streams_bench OUT.jsonl DIRECTORY SESSION.zst [--smoke]
//   streams_bench --follow STORE STREAM COUNT      (what it starts for the other process)
//
// DIRECTORY decides which disk is measured. --smoke takes a tenth of the history and few rounds.
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <holdfast/sqlite_store.h>
#include <holdfast/stream.h>

#include "harness.h"
#include "machine.h"

namespace holdfast::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBatch = 32;

struct Setup {
  Report report;
  fs::path directory;
  std::vector<std::string> lines;
  bool smoke = false;
  std::string self;
  /// Cycles through the session's lines.
  [[nodiscard]] BytesView line(std::size_t i) const { return lines[i % lines.size()]; }
  [[nodiscard]] std::uint64_t scaled(std::uint64_t n) const { return smoke ? n / 10 : n; }
  [[nodiscard]] int rounds(int n) const { return smoke ? 3 : n; }
};

std::unique_ptr<SqliteStore> open_store(const fs::path& path, Durability durability,
                                        bool background_seal = true) {
  return must(open_sqlite_store(path.string(),
                                {.durability = durability, .background_seal = background_seal}),
              "open " + path.string());
}

Stream make_stream(const Setup& setup, Streams& streams, std::string_view name,
                   std::uint64_t chunks) {
  auto stream = must(streams.create(name), "create").stream;
  std::vector<BytesView> batch;
  for (std::uint64_t at = 0; at < chunks; at += batch.size()) {
    batch.clear();
    for (std::uint64_t i = at; i < std::min<std::uint64_t>(at + 1'000, chunks); ++i) {
      batch.push_back(setup.line(i));
    }
    must(stream.append(batch), "append");
  }
  return stream;
}

double append_cpu_us(const Setup& setup, Stream& stream, std::size_t batch_size,
                     std::size_t count) {
  std::vector<BytesView> batch;
  const auto began = process_cpu_us();
  for (std::size_t i = 0; i < count; i += batch_size) {
    batch.clear();
    for (std::size_t j = i; j < i + batch_size; ++j) batch.push_back(setup.line(j));
    must(stream.append(batch), "append");
  }
  return (process_cpu_us() - began) / static_cast<double>(count);
}

double tail_cpu_us(const Stream& stream) {
  constexpr int kCount = 2'000;
  const auto began = process_cpu_us();
  for (int i = 0; i < kCount; ++i) {
    if (must(stream.tail(), "tail").tail.value == 0) give_up("an empty stream");
  }
  return (process_cpu_us() - began) / kCount;
}

double read_cpu_us(const Stream& stream, std::uint64_t expected) {
  const auto began = process_cpu_us();
  std::uint64_t seen = 0;
  for (ReadOptions options; true;) {
    const auto chunks = must(stream.read(options), "read");
    seen += chunks.items.size();
    options.from = chunks.next;
    if (chunks.at_tail) break;
  }
  const auto spent = process_cpu_us() - began;
  if (seen < expected) give_up("a read lost chunks");
  return spent;
}

/// Appends, tails and reads at two lengths a hundred times apart, in alternation.
void measure_by_length(const Setup& setup) {
  const auto store = open_store(setup.directory / "length.db", Durability::kRelaxed);
  Streams streams{*store};
  const auto small = setup.scaled(10'000);
  const auto middle = setup.scaled(25'000);
  const auto large = setup.scaled(1'000'000);
  auto short_stream = make_stream(setup, streams, "short", small);
  auto stream = make_stream(setup, streams, "middle", middle);
  auto long_stream = make_stream(setup, streams, "long", large);

  const auto reads = alternate(setup.rounds(5), {[&] { return read_cpu_us(short_stream, small); },
                                                 [&] { return read_cpu_us(long_stream, large); },
                                                 [&] { return memcpy_cpu_us(large * 86); }});
  setup.report.add({.name = "stream.read.all",
                    .n = large,
                    .unit = "ms_cpu",
                    .value = reads[1] / 1e3,
                    .limit = setup.smoke ? 15 : 150,
                    .machine = reads[2] / 1e3,
                    .growth = reads[1] / (reads[0] * 100),
                    .note = "growth per chunk; machine: memcpy of the bytes"});

  const auto tails = alternate(setup.rounds(9), {[&] { return tail_cpu_us(short_stream); },
                                                 [&] { return tail_cpu_us(stream); },
                                                 [&] { return tail_cpu_us(long_stream); }});
  setup.report.add(
      {.name = "stream.tail", .n = middle, .unit = "us_cpu", .value = tails[1], .limit = 5});
  setup.report.add({.name = "stream.tail",
                    .n = large,
                    .unit = "us_cpu",
                    .value = tails[2],
                    .limit = 5,
                    .growth = tails[2] / tails[0]});

  RawLog raw{setup.directory / "raw"};
  const auto raw_write = [&] {
    constexpr int kCount = 1'000;
    const auto began = process_cpu_us();
    for (int i = 0; i < kCount; ++i) raw.append(false);
    return (process_cpu_us() - began) / kCount;
  };
  for (const std::size_t batch : {std::size_t{1}, kBatch}) {
    const auto count = batch * 1'000;
    const auto cpu =
        alternate(setup.rounds(9),
                  {[&] { return append_cpu_us(setup, short_stream, batch, count); },
                   [&] { return append_cpu_us(setup, stream, batch, count); },
                   [&] { return append_cpu_us(setup, long_stream, batch, count); }, raw_write});
    const std::string name = batch == 1 ? "single" : "batch32";
    const double limit = batch == 1 ? 12 : 1.5;
    const auto machine = cpu[3] / static_cast<double>(batch);
    setup.report.add({.name = "stream.append.relaxed." + name,
                      .n = middle,
                      .unit = "us_cpu",
                      .value = cpu[1],
                      .limit = limit,
                      .machine = machine,
                      .note = "per chunk; machine: pwrite of one page per commit"});
    setup.report.add({.name = "stream.append.relaxed." + name,
                      .n = large,
                      .unit = "us_cpu",
                      .value = cpu[2],
                      .limit = limit,
                      .machine = machine,
                      .growth = cpu[2] / cpu[0]});
  }
}

/// Durable appends: one producer and 64, beside bare fdatasyncs of the same disk.
void measure_durable(const Setup& setup) {
  const auto store = open_store(setup.directory / "durable.db", Durability::kFull);
  Streams streams{*store};
  auto stream = make_stream(setup, streams, "durable", setup.scaled(10'000));
  RawLog raw{setup.directory / "raw-sync"};
  double one_cpu = 0;
  const auto timed = [](int count, const std::function<void(int)>& work) {
    const auto began = wall_us();
    for (int i = 0; i < count; ++i) work(i);
    return (wall_us() - began) / count;
  };
  const int count = setup.smoke ? 20 : 100;
  constexpr int kProducers = 64;
  const auto many = [&] {
    const auto began = wall_us();
    {
      std::vector<std::jthread> producers;
      for (int p = 0; p < kProducers; ++p) {
        producers.emplace_back([&, p] {
          auto mine = stream;
          for (int i = 0; i < count; ++i) {
            must(mine.append(setup.line(static_cast<std::size_t>(p) + static_cast<std::size_t>(i))),
                 "append");
          }
        });
      }
    }
    return (wall_us() - began) / (kProducers * count);
  };
  const auto one = [&] {
    const auto cpu = process_cpu_us();
    const auto wall = timed(count, [&](int i) {
      must(stream.append(setup.line(static_cast<std::size_t>(i))), "append");
    });
    one_cpu = (process_cpu_us() - cpu) / count;
    return wall;
  };
  const auto times = alternate(
      setup.rounds(9), {[&] { return timed(count, [&](int) { raw.append(true); }); }, one, many});
  setup.report.add({.name = "stream.append.full.single",
                    .n = 1,
                    .unit = "us",
                    .value = times[1],
                    .limit = times[0] + 60,
                    .machine = times[0],
                    .note = "machine: one pwrite and fdatasync of the same disk"});
  setup.report.add({.name = "stream.append.full.single.cpu",
                    .n = 1,
                    .unit = "us_cpu",
                    .value = one_cpu,
                    .limit = 60});
  setup.report.add({.name = "stream.append.full.64_producers",
                    .n = kProducers,
                    .unit = "us",
                    .value = times[2],
                    .limit = times[0] + 60,
                    .machine = times[0],
                    .note = "per chunk"});
  setup.report.add({.name = "stream.append.full.64_over_1",
                    .n = kProducers,
                    .unit = "times",
                    .value = times[1] / times[2],
                    .limit = 15,
                    .at_least = true,
                    .note = "rate of 64 producers over the rate of one"});
}

/// Waits until what earlier appends set off in the background (sealing, checkpoints) is over.
void settle() {
  for (int i = 0; i < 100; ++i) {
    const auto cpu = process_cpu_us();
    std::this_thread::sleep_for(std::chrono::milliseconds{200});
    if (process_cpu_us() - cpu < 500) return;
  }
}

/// CPU and wake-ups of followers that wait, without the thread that measures them.
void measure_idle(const Setup& setup) {
  const auto store = open_store(setup.directory / "length.db", Durability::kRelaxed);
  Streams streams{*store};
  make_stream(setup, streams, "idle/25k", setup.scaled(25'000));
  make_stream(setup, streams, "idle/250k", setup.scaled(250'000));
  const auto seconds = setup.smoke ? 1 : 3;
  const auto measure = [&](const std::string& name, std::string_view stream_name, int followers,
                           std::uint64_t n) {
    const auto stream = must(streams.open(stream_name), "open");
    std::atomic<int> woken{0};
    std::vector<Follower> waiting;
    for (int i = 0; i < followers; ++i) {
      waiting.push_back(must(stream.follow({.from = From::tail()}), "follow"));
      while (waiting.back().try_next()) {
      }
      waiting.back().async_wait([&woken] { ++woken; });
    }
    settle();
    const auto others_cpu_us = [] { return process_cpu_us() - thread_cpu_us(); };
    const auto woken_before = woken.load();
    const auto slept = sleeps();
    const auto wakeups = store->stats().watcher_wakeups;
    const auto cpu = others_cpu_us();
    std::this_thread::sleep_for(std::chrono::seconds{seconds});
    const auto spent = others_cpu_us() - cpu;
    const auto woke = (sleeps() - slept) + (store->stats().watcher_wakeups - wakeups) +
                      static_cast<std::uint64_t>(woken.load() - woken_before);
    setup.report.add({.name = name + ".cpu",
                      .n = n,
                      .unit = "percent",
                      .value = std::max(spent, 0.0) / (seconds * 1e4),
                      .limit = 0.005});
    setup.report.add({.name = name + ".wakeups",
                      .n = n,
                      .unit = "count",
                      .value = static_cast<double>(woke),
                      .limit = 0});
  };
  measure("follower.idle", "idle/25k", 1, setup.scaled(25'000));
  measure("follower.idle", "idle/250k", 1, setup.scaled(250'000));
  measure("follower.idle.10000", "idle/250k", static_cast<int>(setup.scaled(10'000)),
          setup.scaled(10'000));
}

/// From append to a follower in another process.
void measure_latency(const Setup& setup) {
  const auto path = setup.directory / "latency.db";
  const auto store = open_store(path, Durability::kRelaxed);
  Streams streams{*store};
  auto stream = make_stream(setup, streams, "latency", setup.scaled(25'000));
  const int count = setup.smoke ? 100 : 1'000;
  const auto command =
      setup.self + " --follow '" + path.string() + "' latency " + std::to_string(count);
  FILE* other = popen(command.c_str(), "r");
  if (other == nullptr) give_up("cannot start the other process");
  double number = 0;
  if (std::fscanf(other, "%lf", &number) != 1) give_up("the other process does not follow");
  for (int i = 0; i < count; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
    std::string chunk(86, ' ');
    const auto now = wall_us();
    std::memcpy(chunk.data(), &now, sizeof now);
    must(stream.append(chunk), "append");
  }
  std::vector<double> samples;
  while (std::fscanf(other, "%lf", &number) == 1) samples.push_back(number);
  if (pclose(other) != 0 || samples.size() != static_cast<std::size_t>(count)) {
    give_up("the other process lost chunks");
  }
  const auto bare = futex_ping_us(count);
  setup.report.add({.name = "stream.append_to_follower.p50",
                    .n = setup.scaled(25'000),
                    .unit = "us",
                    .value = percentile(samples, 50),
                    .limit = 100,
                    .machine = percentile(bare, 50),
                    .note = "follower in another process; machine: one bare futex wake"});
  setup.report.add({.name = "stream.append_to_follower.p99",
                    .n = setup.scaled(25'000),
                    .unit = "us",
                    .value = percentile(samples, 99),
                    .machine = percentile(bare, 99)});
}

int follow(const std::string& path, const std::string& name, int count) {
  const auto store = open_store(path, Durability::kRelaxed);
  Streams streams{*store};
  auto follower = must(must(streams.open(name), "open").follow({.from = From::tail()}), "follow");
  if (follower.try_next()) give_up("a chunk before any was appended");
  std::printf("0\n");
  std::fflush(stdout);
  std::vector<double> samples;
  while (static_cast<int>(samples.size()) < count) {
    const auto chunk = follower.next();
    const auto now = wall_us();
    if (!chunk) give_up("the follower ended early");
    double sent = 0;
    std::memcpy(&sent, chunk->bytes.data(), sizeof sent);
    samples.push_back(now - sent);
  }
  for (const double sample : samples) std::printf("%.3f\n", sample);
  return 0;
}

/// The session on disk: as it was appended, and sealed.
void measure_session(const Setup& setup) {
  const auto path = setup.directory / "session.db";
  double bytes = 0;
  for (const auto& line : setup.lines) bytes += static_cast<double>(line.size() + 1);
  auto store = open_store(path, Durability::kRelaxed, false);
  {
    Streams streams{*store};
    auto stream = must(streams.create("session"), "create").stream;
    for (const auto& line : setup.lines) must(stream.append(line), "append");
  }
  store.reset();
  const auto hot = static_cast<double>(bytes_on_disk(path));
  store = open_store(path, Durability::kRelaxed, false);
  must(store->seal(), "seal");
  must(store->compact(), "compact");
  store.reset();
  const auto sealed = static_cast<double>(bytes_on_disk(path));
  setup.report.add({.name = "session.disk.hot",
                    .n = setup.lines.size(),
                    .unit = "ratio",
                    .value = hot / bytes,
                    .limit = 1.5,
                    .note = "all files of the store over the session's bytes"});
  setup.report.add({.name = "session.disk.sealed",
                    .n = setup.lines.size(),
                    .unit = "ratio",
                    .value = sealed / bytes,
                    .limit = 0.33});
}

int run(int argc, char** argv) {
  const std::vector<std::string> args{argv, argv + argc};
  if (args.size() == 5 && args[1] == "--follow") {
    return follow(args[2], args[3], std::stoi(args[4]));
  }
  if (args.size() < 4) give_up("usage: streams_bench OUT.jsonl DIRECTORY SESSION.zst [--smoke]");
  const TemporaryDirectory place{args[2]};
  const Setup setup{.report = Report{args[1]},
                    .directory = place.path(),
                    .lines = session_lines(args[3]),
                    .smoke = args.size() > 4 && args[4] == "--smoke",
                    .self = fs::read_symlink("/proc/self/exe").string()};
  measure_by_length(setup);
  measure_durable(setup);
  measure_idle(setup);
  measure_latency(setup);
  measure_session(setup);
  return 0;
}

}  // namespace
}  // namespace holdfast::bench

int main(int argc, char** argv) { return holdfast::bench::run(argc, argv); }
