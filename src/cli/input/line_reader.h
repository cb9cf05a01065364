// Lines from a descriptor, as soon as they are there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <holdfast/bytes.h>
#include <holdfast/result.h>

namespace holdfast::cli {

/// Splits what comes at newlines. Bytes are kept exactly, carriage returns and NULs included; a
/// last line without a newline counts. Does not own the descriptor.
class LineReader {
 public:
  /// `what` names the input in errors.
  LineReader(int fd, std::string what) : fd_{fd}, what_{std::move(what)} {}

  /// All whole lines that can be had with one wait for input, but at most `lines_max` of them;
  /// empty at the end. The views live until the next call. Errors: `kIo`; `kTooLarge` for a line
  /// over the record limit, which names the line.
  Result<std::vector<BytesView>> next(std::size_t lines_max);
  /// Everything there is, as one. Errors: as above.
  Result<Bytes> all();
  /// How many lines next() has given.
  [[nodiscard]] std::uint64_t lines() const { return lines_; }

 private:
  Result<bool> fill();  // false at the end of the input

  int fd_;
  std::string what_;
  std::string buffer_;
  std::size_t begin_ = 0;    // where the next line begins in buffer_
  std::size_t scanned_ = 0;  // no newline in [begin_, scanned_)
  bool ended_ = false;
  std::uint64_t lines_ = 0;
};

}  // namespace holdfast::cli
