#include "cli/input/line_reader.h"

#include <unistd.h>

#include <cerrno>

#include <fmt/format.h>

#include <holdfast/store.h>

#include "cli/output/output.h"

namespace holdfast::cli {

Result<bool> LineReader::fill() {
  constexpr std::size_t kReadBytes = 256u << 10;
  buffer_.erase(0, begin_);
  scanned_ -= begin_;
  begin_ = 0;
  const std::size_t had = buffer_.size();
  buffer_.resize(had + kReadBytes);
  ssize_t got = 0;
  do {
    got = ::read(fd_, buffer_.data() + had, kReadBytes);
  } while (got < 0 && errno == EINTR);
  buffer_.resize(had + static_cast<std::size_t>(got > 0 ? got : 0));
  if (got < 0) return fail(system_error("read", what_, errno));
  ended_ = got == 0;
  return got > 0;
}

Result<std::vector<BytesView>> LineReader::next(std::size_t lines_max) {
  std::vector<BytesView> out;
  for (;;) {
    while (out.size() < lines_max) {
      const std::size_t newline = buffer_.find('\n', scanned_);
      if (newline == std::string::npos) {
        scanned_ = buffer_.size();
        break;
      }
      out.push_back(BytesView{buffer_}.substr(begin_, newline - begin_));
      begin_ = scanned_ = newline + 1;
    }
    if (!out.empty()) break;
    if (ended_) {
      if (begin_ < buffer_.size()) {
        out.push_back(BytesView{buffer_}.substr(begin_));
        begin_ = scanned_ = buffer_.size();
      }
      break;
    }
    if (buffer_.size() - begin_ > kRecordBytesMax) {
      return fail(Error{ErrorCode::kTooLarge,
                        fmt::format("line {} of {} has more than {} bytes, the limit of a chunk",
                                    lines_ + 1, what_, kRecordBytesMax)}
                      .with(kRecordBytesMax, 0));
    }
    if (auto more = fill(); !more) return fail(std::move(more.error()));
  }
  lines_ += out.size();
  return out;
}

Result<Bytes> LineReader::all() {
  for (;;) {
    auto more = fill();
    if (!more) return fail(std::move(more.error()));
    if (buffer_.size() > kRecordBytesMax) {
      return fail(Error{
          ErrorCode::kTooLarge,
          fmt::format("{} has more than {} bytes, the limit of a chunk", what_, kRecordBytesMax)}
                      .with(kRecordBytesMax, 0));
    }
    if (!*more) return std::move(buffer_);
  }
}

}  // namespace holdfast::cli
