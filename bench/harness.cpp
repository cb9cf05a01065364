#include "harness.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace holdfast::bench {
namespace {

double clock_us(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

double rounded(double value) { return value == 0 ? 0 : std::round(value * 1e4) / 1e4; }

std::string whole_file(const std::filesystem::path& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

}  // namespace

void Report::add(const Figure& figure) const {
  const auto optional = [](const std::optional<double>& value) {
    return value ? nlohmann::ordered_json(rounded(*value)) : nlohmann::ordered_json(nullptr);
  };
  nlohmann::ordered_json line{{"name", figure.name},
                              {"n", figure.n},
                              {"unit", figure.unit},
                              {"value", rounded(figure.value)}};
  line["limit"] = optional(figure.limit);
  line["at_least"] = figure.at_least;
  line["machine"] = optional(figure.machine);
  line["growth"] = optional(figure.growth);
  if (!figure.note.empty()) line["note"] = figure.note;
  std::ofstream{path_, std::ios::app} << line.dump() << '\n';
  fmt::print(stderr, "    {:<44} n={:<9} {:>12.3f} {}\n", figure.name, figure.n, figure.value,
             figure.unit);
}

double thread_cpu_us() { return clock_us(CLOCK_THREAD_CPUTIME_ID); }
double process_cpu_us() { return clock_us(CLOCK_PROCESS_CPUTIME_ID); }
double wall_us() { return clock_us(CLOCK_MONOTONIC); }

double process_cpu_us(int pid) {
  clockid_t clock{};
  if (clock_getcpuclockid(pid, &clock) != 0) return 0;
  return clock_us(clock);
}

std::uint64_t sleeps(int pid) {
  const auto tasks =
      std::filesystem::path{"/proc"} / (pid == 0 ? "self" : std::to_string(pid)) / "task";
  std::uint64_t sum = 0;
  for (const auto& task : std::filesystem::directory_iterator{tasks}) {
    if (pid == 0 && task.path().filename() == std::to_string(gettid())) continue;
    std::istringstream status{whole_file(task.path() / "status")};
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("voluntary_ctxt_switches:"))
        sum += std::stoull(line.substr(line.find(':') + 1));
    }
  }
  return sum;
}

std::uint64_t resident_bytes(int pid) {
  std::istringstream status{whole_file("/proc/" + std::to_string(pid) + "/status")};
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stoull(line.substr(6)) * 1024;
  }
  return 0;
}

double percentile(std::vector<double> samples, double percent) {
  if (samples.empty()) return 0;
  std::ranges::sort(samples);
  const auto rank = std::ceil(percent / 100 * static_cast<double>(samples.size()));
  const auto index = static_cast<std::size_t>(std::max(rank - 1, 0.0));
  return samples[std::min(index, samples.size() - 1)];
}

double median(std::vector<double> samples) { return percentile(std::move(samples), 50); }

std::vector<double> alternate(int rounds, const std::vector<std::function<double()>>& works) {
  std::vector<std::vector<double>> samples(works.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < works.size(); ++i) {
      const auto at = round % 2 == 0 ? i : works.size() - 1 - i;
      samples[at].push_back(works[at]());
    }
  }
  std::vector<double> medians;
  for (auto& each : samples) medians.push_back(median(std::move(each)));
  return medians;
}

std::uint64_t bytes_on_disk(const std::filesystem::path& prefix) {
  std::uint64_t sum = 0;
  const auto begins = prefix.filename().string();
  for (const auto& entry : std::filesystem::directory_iterator{prefix.parent_path()}) {
    struct stat status{};
    if (entry.path().filename().string().starts_with(begins) &&
        stat(entry.path().c_str(), &status) == 0) {
      sum += static_cast<std::uint64_t>(status.st_blocks) * 512;
    }
  }
  return sum;
}

TemporaryDirectory::TemporaryDirectory(const std::filesystem::path& inside) {
  std::filesystem::create_directories(inside);
  std::string pattern = (inside / "bench-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) give_up("no temporary directory in " + inside.string());
  path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> session_lines(const std::filesystem::path& zst) {
  const auto packed = whole_file(zst);
  const auto size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN) {
    give_up(zst.string() + " is no session");
  }
  std::string text(size, '\0');
  if (ZSTD_decompress(text.data(), text.size(), packed.data(), packed.size()) != size) {
    give_up(zst.string() + " does not decompress");
  }
  std::vector<std::string> lines;
  std::istringstream in{text};
  for (std::string line; std::getline(in, line);) lines.push_back(std::move(line));
  return lines;
}

void give_up(std::string_view why) {
  std::fprintf(stderr, "bench: %.*s\n", static_cast<int>(why.size()), why.data());
  std::exit(1);
}

}  // namespace holdfast::bench
