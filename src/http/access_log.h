// One JSON line for each request:
//   {"time":"2026-11-30T09:00:00.000Z","method":"GET","path":"/v1/stream/a","status":200,"bytes":12,
//    "duration_us":345,"remote":"127.0.0.1:4711"}
//
// Whatever a client sends, a line stays one line: control characters are escaped, bytes that are
// not UTF-8 replaced, paths cut at 512 bytes. Queries are left out: they may hold a token. A reader
// of the log that does not keep up loses lines (counted) and never stops the server.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <holdfast/clock.h>

#include "rt/loop.h"

namespace holdfast::http {

struct AccessEntry {
  Timestamp time{};
  std::string_view method;
  std::string_view path;
  int status = 0;
  std::uint64_t bytes = 0;
  std::int64_t duration_us = 0;
  std::string_view remote;
};

/// The line, with its newline.
[[nodiscard]] std::string access_line(const AccessEntry& entry);

/// Loop thread only.
class AccessLog {
 public:
  /// Writes to `fd`, which stays its owner's; -1 writes nothing.
  AccessLog(rt::Loop& loop, int fd);
  ~AccessLog();

  [[nodiscard]] bool enabled() const { return fd_ >= 0; }
  void add(const AccessEntry& entry);
  /// Writes what waits, as far as the reader takes it.
  void flush();
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

 private:
  const int fd_;
  rt::Timer timer_;
  std::string waiting_;
  std::uint64_t dropped_ = 0;
};

}  // namespace holdfast::http
