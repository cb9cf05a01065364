// What the bare machine takes for the work that a figure stands for: the least that any store or
// server on it could take.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

namespace holdfast::bench {

/// A file that grows by one 4 KiB page per write, synced if asked: the least of a commit.
class RawLog {
 public:
  explicit RawLog(const std::filesystem::path& path);
  RawLog(const RawLog&) = delete;
  RawLog& operator=(const RawLog&) = delete;
  ~RawLog();
  /// Writes the next page into space that was set aside, and syncs it with fdatasync.
  void append(bool sync);

 private:
  int file_ = -1;
  std::size_t pages_ = 0;
};

/// CPU time of copying so many bytes from memory to memory, in microseconds.
[[nodiscard]] double memcpy_cpu_us(std::size_t bytes);

/// One way between two processes that wait for each other on a futex, in microseconds.
[[nodiscard]] std::vector<double> futex_ping_us(int count);

/// From the first write to the last reader's read of one message to so many loopback connections,
/// in microseconds.
[[nodiscard]] std::vector<double> tcp_fan_out_us(int connections, std::size_t bytes, int count);

}  // namespace holdfast::bench
