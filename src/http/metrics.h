// What the server counts, and its text form for Prometheus.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <holdfast/store.h>

namespace holdfast::http {

/// Counters and gauges. Loop thread only.
struct Metrics {
  struct Key {
    std::string_view route;
    std::string method;
    int status = 0;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  static constexpr std::array<double, 9> kBucketsSeconds{0.0005, 0.001, 0.0025, 0.005, 0.01,
                                                         0.05,   0.25,  1.0,    5.0};

  std::map<Key, std::uint64_t> requests{};
  std::array<std::uint64_t, kBucketsSeconds.size() + 1> durations{};
  double duration_seconds_sum = 0;
  std::uint64_t connections_accepted = 0;
  std::uint64_t connections_refused = 0;  ///< over the cap
  std::uint64_t connections = 0;          ///< open now, followers included
  std::uint64_t followers = 0;            ///< event streams open now
  std::uint64_t followers_dropped = 0;    ///< cut off: took no bytes for too long
  std::uint64_t followers_fell_behind = 0;
  std::uint64_t long_polls = 0;  ///< waiting now
  std::uint64_t channels = 0;    ///< streams that are followed now
  std::uint64_t channel_reads = 0;
  std::uint64_t appends = 0;
  std::uint64_t append_chunks = 0;
  std::uint64_t append_bytes = 0;
  std::uint64_t body_bytes = 0;  ///< of requests, in memory now

  void count(std::string_view route, std::string_view method, int status, double seconds);
};

/// What is known elsewhere and stands in the same text.
struct MetricsExtra {
  StoreStats store{};
  std::uint64_t loop_wakeups = 0;
  std::uint64_t workers_queued = 0;
  std::uint64_t access_log_dropped = 0;
};

[[nodiscard]] std::string prometheus_text(const Metrics& metrics, const MetricsExtra& extra);

}  // namespace holdfast::http
