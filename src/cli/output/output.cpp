#include "cli/output/output.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace holdfast::cli {

Output::~Output() { flush(); }

bool Output::write(std::string_view bytes) {
  if (!ok()) return false;
  if (buffer_.size() + bytes.size() > kBufferBytes && !flush()) return false;
  if (bytes.size() >= kBufferBytes) return write_through(bytes);
  buffer_.append(bytes);
  return true;
}

bool Output::flush() {
  if (!ok()) return false;
  const bool written = write_through(buffer_);
  buffer_.clear();
  return written;
}

bool Output::write_through(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {  // somebody made the terminal or pipe non-blocking
      pollfd waited{.fd = fd_, .events = POLLOUT, .revents = 0};
      ::poll(&waited, 1, -1);
    } else if (errno == EPIPE) {
      reader_gone_ = true;
      return false;
    } else if (errno != EINTR) {
      error_ = system_error("write", what_, errno);
      return false;
    }
  }
  return true;
}

Result<void> Output::status() const {
  if (error_) return fail(*error_);
  return {};
}

Error system_error(std::string_view doing, std::string_view what, int error_number) {
  const std::string reason =
      fmt::format("cannot {} {}: {}", doing, what,
                  std::strerror(error_number));  // NOLINT(concurrency-mt-unsafe)
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return {ErrorCode::kDiskFull, reason + ". Make space, then run this again"};
    case ENOENT: return {ErrorCode::kNotFound, reason};
    case EEXIST: return {ErrorCode::kAlreadyExists, reason};
    default: return {ErrorCode::kIo, reason};
  }
}

}  // namespace holdfast::cli
