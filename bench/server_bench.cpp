// The figures of the server: the real program, in a process of its own, seen through its sockets.
//
//   server_bench OUT.jsonl DIRECTORY SESSION.zst PROGRAM [--smoke]
//   server_bench OUT.jsonl DIRECTORY SESSION.zst --peer SCRIPT [--smoke]
//
// With --peer, `node SCRIPT PORT DIRECTORY` is the server: one that speaks the Durable Streams
// protocol. It is measured in the same way, but for what only ours tells (/metrics).
//
// Needs as many open files as there are followers (`ulimit -n`).
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <holdfast/sqlite_store.h>
#include <holdfast/stream.h>

#include "harness.h"
#include "http_client.h"
#include "machine.h"

namespace holdfast::bench {
namespace {

struct Setup {
  Report report;
  std::vector<std::string> lines;
  std::string program;
  bool peer = false;
  bool smoke = false;
  std::uint64_t idle = 10'000;
  std::uint64_t crowd = 1'000;
  std::uint64_t behind = 1'000'000;
};

constexpr std::string_view kText = "Content-Type: text/plain\r\n";

/// A stream with a history, made before the server starts.
void make_history(const Setup& setup, const std::string& path) {
  const auto store =
      must(open_sqlite_store(path, {.durability = Durability::kRelaxed}), "open the store");
  Streams streams{*store};
  auto stream = must(streams.create("long", {.content_type = "text/plain"}), "create").stream;
  std::vector<BytesView> batch;
  for (std::uint64_t at = 0; at < setup.behind; at += batch.size()) {
    batch.clear();
    for (std::uint64_t i = at; i < std::min(at + 1'000, setup.behind); ++i) {
      batch.push_back(setup.lines[i % setup.lines.size()]);
    }
    must(stream.append(batch), "append");
  }
}

/// The same for a peer, over HTTP: JSON, of which one request can carry many chunks.
void make_peer_history(const Setup& setup, std::uint16_t port) {
  HttpConnection http{port};
  constexpr std::string_view kJson = "Content-Type: application/json\r\n";
  http.request("PUT", "/v1/stream/long", kJson);
  for (std::uint64_t at = 0; at < setup.behind; at += 1'000) {
    std::string batch = "[";
    for (std::uint64_t i = at; i < at + 1'000; ++i) {
      batch.append(i == at ? "" : ",").append(setup.lines[i % setup.lines.size()]);
    }
    const auto reply = http.request("POST", "/v1/stream/long", kJson, batch + "]");
    if (reply.status >= 300) give_up("the peer refuses an append: " + reply.body);
  }
}

/// What a follower at the tail asks for, and what tells it that it has caught up.
std::string follow_target(const Setup& setup) {
  if (setup.peer) return "/v1/stream/long?live=sse&offset=now";
  return fmt::format("/v1/stream/long?live=events&offset={:016}_{:016}", 0, setup.behind);
}
std::string_view caught_up(const Setup& setup) {
  return setup.peer ? "upToDate" : "event: caught-up";
}

/// The value of a metric, all its labels' together.
double metric(HttpConnection& http, std::string_view name) {
  const auto text = http.request("GET", "/metrics").body;
  double sum = 0;
  bool found = false;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    const std::string_view line{text.data() + at, end - at};
    if (line.starts_with(name) && line.size() > name.size() &&
        (line[name.size()] == ' ' || line[name.size()] == '{')) {
      sum += std::stod(std::string{line.substr(line.rfind(' ') + 1)});
      found = true;
    }
    at = end + 1;
  }
  if (!found) give_up(fmt::format("/metrics does not name {}", name));
  return sum;
}

void measure_idle(const Setup& setup, std::uint16_t port, int server) {
  {
    const Crowd warm{port, 10, follow_target(setup)};
  }
  std::this_thread::sleep_for(std::chrono::milliseconds{300});
  const auto resident = resident_bytes(server);
  Crowd crowd{port, setup.idle, follow_target(setup)};
  crowd.wait_until_all_have(caught_up(setup));
  std::this_thread::sleep_for(std::chrono::milliseconds{300});
  const auto each = static_cast<double>(resident_bytes(server) - resident) /
                    static_cast<double>(setup.idle) / 1024;
  setup.report.add({.name = "server.sse.idle.memory",
                    .n = setup.idle,
                    .unit = "KiB_each",
                    .value = each,
                    .limit = 4,
                    .note = "resident memory of the server"});
  const auto percent_over = [&](int seconds) {
    const auto cpu = process_cpu_us(server);
    std::this_thread::sleep_for(std::chrono::seconds{seconds});
    return (process_cpu_us(server) - cpu) / (seconds * 1e4);
  };
  const auto slept = sleeps(server);
  const auto quiet = percent_over(setup.smoke ? 1 : 3);
  const auto woke = sleeps(server) - slept;
  setup.report.add({.name = "server.sse.idle.cpu",
                    .n = setup.idle,
                    .unit = "percent",
                    .value = quiet,
                    .limit = 0.05,
                    .note = fmt::format("between heartbeats; {} wake-ups", woke)});
  if (setup.smoke) return;
  setup.report.add({.name = "server.sse.idle.cpu_with_heartbeats",
                    .n = setup.idle,
                    .unit = "percent",
                    .value = percent_over(15),
                    .note = "a heartbeat each within 15 s"});
}

void measure_fan_out(const Setup& setup, std::uint16_t port) {
  Crowd crowd{port, setup.crowd, follow_target(setup)};
  crowd.wait_until_all_have(caught_up(setup));
  HttpConnection http{port};
  const int rounds = setup.peer ? 5 : setup.smoke ? 20 : 200;
  const auto reads = setup.peer ? 0 : metric(http, "holdfast_store_reads_total");
  std::vector<double> samples;
  for (int round = 0; round < rounds; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
    const auto chunk = fmt::format("\"round-{:08}-{:>70}\"", round, "x");
    const auto began = wall_us();
    http.send("POST", "/v1/stream/long", setup.peer ? "Content-Type: application/json\r\n" : kText,
              chunk);
    crowd.wait_until_all_have(chunk);
    samples.push_back((wall_us() - began) / 1e3);
    if (const auto reply = http.receive(); reply.status >= 300) give_up("append: " + reply.body);
  }
  const auto bare = tcp_fan_out_us(static_cast<int>(setup.crowd), 150, 50);
  setup.report.add({.name = "server.sse.fan_out.p50",
                    .n = setup.crowd,
                    .unit = "ms",
                    .value = percentile(samples, 50),
                    .machine = percentile(bare, 50) / 1e3,
                    .note = "machine: the same bytes through bare sockets"});
  setup.report.add({.name = "server.sse.fan_out.p99",
                    .n = setup.crowd,
                    .unit = "ms",
                    .value = percentile(samples, 99),
                    .limit = 15,
                    .machine = percentile(bare, 99) / 1e3,
                    .note = fmt::format("last follower, {} chunks behind", setup.behind)});
  if (setup.peer) return;
  const auto per_append = (metric(http, "holdfast_store_reads_total") - reads) / rounds;
  setup.report.add({.name = "server.sse.fan_out.store_reads",
                    .n = setup.crowd,
                    .unit = "per_append",
                    .value = per_append,
                    .limit = 1});
}

void measure_appends(const Setup& setup, std::uint16_t port, int server) {
  HttpConnection http{port};
  http.request("PUT", "/v1/stream/appends", kText);
  const int count = setup.smoke ? 200 : 2'000;
  const auto cpu = process_cpu_us(server);
  const auto began = wall_us();
  for (int i = 0; i < count; ++i) {
    const auto& line = setup.lines[static_cast<std::size_t>(i) % setup.lines.size()];
    const auto reply = http.request("POST", "/v1/stream/appends", kText, line);
    if (reply.status >= 300) give_up("append: " + reply.body);
  }
  const auto wall = wall_us() - began;
  setup.report.add({.name = "server.append.rate",
                    .n = static_cast<std::uint64_t>(count),
                    .unit = "per_s",
                    .value = count / wall * 1e6,
                    .at_least = true,
                    .note = "one connection, one chunk per request, relaxed"});
  setup.report.add({.name = "server.append.cpu",
                    .n = static_cast<std::uint64_t>(count),
                    .unit = "us_cpu",
                    .value = (process_cpu_us(server) - cpu) / count});
}

int run(int argc, char** argv) {
  std::vector<std::string> args{argv, argv + argc};
  const bool smoke = std::erase(args, "--smoke") != 0;
  const bool peer = std::erase(args, "--peer") != 0;
  if (args.size() != 5) {
    give_up("usage: server_bench OUT.jsonl DIRECTORY SESSION.zst PROGRAM|--peer SCRIPT [--smoke]");
  }
  raise_file_limit();
  const TemporaryDirectory place{args[2]};
  Setup setup{.report = Report{args[1]},
              .lines = session_lines(args[3]),
              .program = args[4],
              .peer = peer,
              .smoke = smoke};
  if (smoke) {
    setup.idle = 500;
    setup.crowd = 100;
    setup.behind = 100'000;
  }
  const auto path = (place.path() / "server.db").string();
  const auto port = free_port();
  const auto number = std::to_string(port);
  if (!peer) make_history(setup, path);
  const ServerProcess server{peer ? std::vector<std::string>{"node", setup.program, number, path}
                                  : std::vector<std::string>{setup.program, "--store", path,
                                                             "--durability", "relaxed", "serve",
                                                             "--port", number}};
  if (peer) {
    make_peer_history(setup, port);
  } else if (HttpConnection{port}.request("GET", "/healthz").status != 200) {
    give_up("the server is not well");
  }
  measure_idle(setup, port, server.pid());
  measure_fan_out(setup, port);
  measure_appends(setup, port, server.pid());
  return 0;
}

}  // namespace
}  // namespace holdfast::bench

int main(int argc, char** argv) { return holdfast::bench::run(argc, argv); }
