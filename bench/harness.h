// The benchmarks' measuring rules, in one place.
//
// Goals: CPU time rather than wall time wherever the machine's load must not matter; medians over
// alternating rounds (A B B A), so that a drift of the machine hits both sides alike; beside each
// figure what it must reach and what the bare machine would take for the same bytes.
// Not goals: single-digit nanoseconds (Google Benchmark is better at those), charts, statistics
// beyond medians and percentiles.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::bench {

/// One line of the table and of bench.jsonl.
struct Figure {
  std::string name;
  std::uint64_t n = 0;  ///< the length of the history, or how many there were of what is counted
  std::string unit;
  double value = 0;
  std::optional<double> limit{};    ///< what it must reach
  std::optional<double> machine{};  ///< the bare machine's own figure for the same work
  std::optional<double> growth{};   ///< value at n over value at n / 100
  bool at_least = false;            ///< the limit is a lower one
  std::string note{};
};

/// Appends figures to a JSON Lines file as they come, so that a run that breaks off keeps them.
class Report {
 public:
  explicit Report(std::filesystem::path jsonl) : path_{std::move(jsonl)} {}
  void add(const Figure& figure) const;

 private:
  std::filesystem::path path_;
};

/// CPU time of the calling thread and of the whole process, and a clock that only goes forward.
[[nodiscard]] double thread_cpu_us();
[[nodiscard]] double process_cpu_us();
[[nodiscard]] double wall_us();
/// CPU time of another process, all threads; 0 if it is gone. Resolution: one scheduler tick's.
[[nodiscard]] double process_cpu_us(int pid);
/// Times that threads of a process went to sleep, which is once for each wake-up. By default this
/// process, without the calling thread.
[[nodiscard]] std::uint64_t sleeps(int pid = 0);
/// Resident memory of a process.
[[nodiscard]] std::uint64_t resident_bytes(int pid);

[[nodiscard]] double percentile(std::vector<double> samples, double percent);
[[nodiscard]] double median(std::vector<double> samples);

/// Takes samples of each work in turn, forwards and backwards, and gives each one's median.
[[nodiscard]] std::vector<double> alternate(int rounds,
                                            const std::vector<std::function<double()>>& works);

/// Bytes of all files whose path begins with this one.
[[nodiscard]] std::uint64_t bytes_on_disk(const std::filesystem::path& prefix);

/// A directory of its own, removed with all that is in it.
class TemporaryDirectory {
 public:
  explicit TemporaryDirectory(const std::filesystem::path& inside);
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// The lines of the session that ships with the project, without their newlines.
[[nodiscard]] std::vector<std::string> session_lines(const std::filesystem::path& zst);

/// Prints and ends the program: a benchmark that cannot do its work has no figure to give.
[[noreturn]] void give_up(std::string_view why);

/// The value of a Result, or the end.
template <typename R>
auto must(R result, std::string_view what) {
  if (!result) give_up(std::string{what} + ": " + result.error().message);
  if constexpr (!std::is_void_v<typename R::value_type>) return std::move(*result);
}

}  // namespace holdfast::bench
