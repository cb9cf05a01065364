// Buffered writing to a file descriptor, exact to the byte.
//
// Invariants
//   - After the first failure nothing more is written; the failure stays readable in `status()`.
//   - A reader that went away (EPIPE) is no error: it wants no more, and `reader_gone()` says so.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/result.h>

namespace holdfast::cli {

/// One thread at a time. Does not own the descriptor. What is still in the buffer at the end is
/// written by the destructor, whose failure nobody sees: call flush() where it matters.
class Output {
 public:
  /// `what` names it in errors: "standard output", or a file's path.
  Output(int fd, std::string what) : fd_{fd}, what_{std::move(what)} {}
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  virtual ~Output();

  /// False when this or an earlier write failed, or the reader is gone.
  bool write(std::string_view bytes);
  /// Everything written so far leaves the program now.
  bool flush();

  [[nodiscard]] bool ok() const { return !reader_gone_ && !error_; }
  [[nodiscard]] bool reader_gone() const { return reader_gone_; }
  /// The first failure; success when all is well or the reader is gone.
  [[nodiscard]] Result<void> status() const;
  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] const std::string& what() const { return what_; }

 private:
  bool write_through(std::string_view bytes);

  static constexpr std::size_t kBufferBytes = 64u << 10;
  int fd_;
  std::string what_;
  std::string buffer_;
  bool reader_gone_ = false;
  std::optional<Error> error_;
};

/// The error that stands for an errno at a file or descriptor: `kDiskFull` for ENOSPC, EDQUOT and
/// EFBIG, `kNotFound` for ENOENT, else `kIo`. `doing` is "write", "read", "open", …
[[nodiscard]] Error system_error(std::string_view doing, std::string_view what, int error_number);

}  // namespace holdfast::cli
