#include "http/access_log.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "http/response.h"

namespace holdfast::http {
namespace {

constexpr std::size_t kPathBytesMax = 512;
constexpr std::size_t kWaitingBytesMax = 1u << 20;
constexpr std::size_t kFlushBytes = 64u << 10;
constexpr std::chrono::milliseconds kFlushAfter{100};

std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::string access_line(const AccessEntry& entry) {
  return fmt::format(
      R"({{"time":"{}","method":{},"path":{},"status":{},"bytes":{},"duration_us":{},"remote":{}}})"
      "\n",
      rfc3339(entry.time), json_text(entry.method.substr(0, 32)),
      json_text(entry.path.substr(0, kPathBytesMax)), entry.status, entry.bytes, entry.duration_us,
      json_text(entry.remote));
}

AccessLog::AccessLog(rt::Loop& loop, int fd) : fd_{fd}, timer_{loop, [this] { flush(); }} {}

AccessLog::~AccessLog() {
  if (enabled()) flush();
}

void AccessLog::add(const AccessEntry& entry) {
  if (!enabled()) return;
  const std::string line = access_line(entry);
  if (waiting_.size() + line.size() > kWaitingBytesMax) {
    ++dropped_;
    return;
  }
  waiting_ += line;
  if (waiting_.size() >= kFlushBytes) {
    flush();
  } else if (!timer_.armed()) {
    timer_.arm(rt::Loop::now() + kFlushAfter);
  }
}

void AccessLog::flush() {
  std::size_t written = 0;
  while (written < waiting_.size()) {
    // The descriptor may be shared with others, so it cannot be made non-blocking; a pipe takes 4
    // KB without waiting once it says that it can be written.
    pollfd ready{.fd = fd_, .events = POLLOUT, .revents = 0};
    if (::poll(&ready, 1, 0) <= 0 || (ready.revents & POLLOUT) == 0) break;
    const std::size_t size = std::min<std::size_t>(4'096, waiting_.size() - written);
    const ssize_t got = ::write(fd_, waiting_.data() + written, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    written += static_cast<std::size_t>(got);
  }
  waiting_.erase(0, written);
  if (!waiting_.empty()) timer_.arm(rt::Loop::now() + kFlushAfter);
}

}  // namespace holdfast::http
