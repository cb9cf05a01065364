#include "http/metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <iterator>

#include <fmt/format.h>

namespace holdfast::http {
namespace {

class Text {
 public:
  void head(std::string_view name, std::string_view type, std::string_view help) {
    fmt::format_to(out(), "# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
  }
  template <typename Value>
  void one(std::string_view name, std::string_view type, std::string_view help, Value value) {
    head(name, type, help);
    fmt::format_to(out(), "{} {}\n", name, value);
  }
  std::back_insert_iterator<std::string> out() { return std::back_inserter(text); }
  std::string text;
};

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& at) {
    return static_cast<double>(at.tv_sec) + static_cast<double>(at.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::uint64_t resident_bytes() {
  unsigned long pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    unsigned long size = 0;
    if (std::fscanf(file, "%lu %lu", &size, &pages) != 2) pages = 0;
    std::fclose(file);
  }
  return std::uint64_t{pages} * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

void write_requests(Text& text, const Metrics& metrics) {
  text.head("holdfast_http_requests_total", "counter", "Requests answered.");
  for (const auto& [key, count] : metrics.requests) {
    fmt::format_to(text.out(),
                   "holdfast_http_requests_total{{route=\"{}\",method=\"{}\",status=\"{}\"}} {}\n",
                   key.route, key.method, key.status, count);
  }
  text.head("holdfast_http_request_duration_seconds", "histogram",
            "Time from a request's first byte to its answer's last, live reads left out.");
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < metrics.durations.size(); ++i) {
    below += metrics.durations[i];
    const std::string bound = i < Metrics::kBucketsSeconds.size()
                                  ? fmt::format("{}", Metrics::kBucketsSeconds[i])
                                  : std::string{"+Inf"};
    fmt::format_to(text.out(), "holdfast_http_request_duration_seconds_bucket{{le=\"{}\"}} {}\n",
                   bound, below);
  }
  fmt::format_to(text.out(),
                 "holdfast_http_request_duration_seconds_sum {}\n"
                 "holdfast_http_request_duration_seconds_count {}\n",
                 metrics.duration_seconds_sum, below);
}

void write_server(Text& text, const Metrics& metrics, const MetricsExtra& extra) {
  text.one("holdfast_connections", "gauge", "Connections open.", metrics.connections);
  text.one("holdfast_connections_accepted_total", "counter", "Connections taken.",
           metrics.connections_accepted);
  text.one("holdfast_connections_refused_total", "counter", "Connections over the cap.",
           metrics.connections_refused);
  text.one("holdfast_followers", "gauge", "Event streams open.", metrics.followers);
  text.one("holdfast_followers_dropped_total", "counter",
           "Followers cut off because they took no bytes.", metrics.followers_dropped);
  text.one("holdfast_followers_fell_behind_total", "counter",
           "Times a slow follower went back to reading by range.", metrics.followers_fell_behind);
  text.one("holdfast_long_polls", "gauge", "Long-polls waiting.", metrics.long_polls);
  text.one("holdfast_followed_streams", "gauge", "Streams that somebody waits on.",
           metrics.channels);
  text.one("holdfast_shared_reads_total", "counter",
           "Reads made for all followers of a stream together.", metrics.channel_reads);
  text.one("holdfast_appends_total", "counter", "Appends over HTTP.", metrics.appends);
  text.one("holdfast_append_chunks_total", "counter", "Chunks appended over HTTP.",
           metrics.append_chunks);
  text.one("holdfast_append_bytes_total", "counter", "Bytes appended over HTTP.",
           metrics.append_bytes);
  text.one("holdfast_request_body_bytes", "gauge", "Request bodies in memory.", metrics.body_bytes);
  text.one("holdfast_workers_queued", "gauge", "Tasks waiting for a worker.", extra.workers_queued);
  text.one("holdfast_loop_wakeups_total", "counter", "Times the loop left its sleep.",
           extra.loop_wakeups);
  text.one("holdfast_access_log_dropped_total", "counter",
           "Lines of the access log that nobody took in time.", extra.access_log_dropped);
}

void write_store(Text& text, const StoreStats& store) {
  text.one("holdfast_store_commits_total", "counter", "Batches committed.", store.commits);
  text.one("holdfast_store_transactions_total", "counter", "Transactions they shared.",
           store.transactions);
  text.one("holdfast_store_syncs_total", "counter", "Calls of fdatasync.", store.syncs);
  text.one("holdfast_store_records_written_total", "counter", "Records written.",
           store.records_written);
  text.one("holdfast_store_bytes_written_total", "counter", "Payload bytes written.",
           store.bytes_written);
  text.one("holdfast_store_rows_written_total", "counter", "Database rows written.",
           store.rows_written);
  text.one("holdfast_store_reads_total", "counter", "Reads of logs.", store.reads);
  text.one("holdfast_store_rows_read_total", "counter", "Database rows read.", store.rows_read);
  text.one("holdfast_store_records_read_total", "counter", "Records read.", store.records_read);
  text.one("holdfast_store_bytes_read_total", "counter", "Payload bytes read.", store.bytes_read);
  text.one("holdfast_store_wakes_total", "counter", "Watches called.", store.wakes);
}

}  // namespace

void Metrics::count(std::string_view route, std::string_view method, int status, double seconds) {
  ++requests[Key{route, std::string{method}, status}];
  if (seconds < 0) return;
  std::size_t bucket = 0;
  while (bucket < kBucketsSeconds.size() && seconds > kBucketsSeconds[bucket]) ++bucket;
  ++durations[bucket];
  duration_seconds_sum += seconds;
}

std::string prometheus_text(const Metrics& metrics, const MetricsExtra& extra) {
  Text text;
  write_requests(text, metrics);
  write_server(text, metrics, extra);
  write_store(text, extra.store);
  text.one("process_cpu_seconds_total", "counter", "User and system time.", cpu_seconds());
  text.one("process_resident_memory_bytes", "gauge", "Resident memory.", resident_bytes());
  return std::move(text.text);
}

}  // namespace holdfast::http
