#include "cli/input/source.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "cli/output/output.h"

namespace holdfast::cli {
namespace {

class PlainSource final : public Source {
 public:
  PlainSource(int fd, int stop_fd, std::string name, std::uint64_t size, bool seekable)
      : fd_{fd}, stop_fd_{stop_fd}, name_{std::move(name)}, size_{size}, seekable_{seekable} {}
  ~PlainSource() override {
    if (fd_ != STDIN_FILENO) ::close(fd_);
  }

  Result<std::size_t> read(char* to, std::size_t size) override {
    for (;;) {
      if (auto ok = wait(); !ok) return fail(std::move(ok.error()));
      const ssize_t got = ::read(fd_, to, size);
      if (got >= 0) {
        taken_ += static_cast<std::uint64_t>(got);
        return static_cast<std::size_t>(got);
      }
      if (errno != EINTR && errno != EAGAIN) return fail(system_error("read", name_, errno));
    }
  }

  [[nodiscard]] bool seekable() const override { return seekable_; }

  Result<void> seek(std::uint64_t byte) override {
    if (::lseek(fd_, static_cast<off_t>(byte), SEEK_SET) < 0) {
      return fail(system_error("read", name_, errno));
    }
    taken_ = byte;
    return {};
  }

  [[nodiscard]] std::uint64_t taken() const override { return taken_; }
  [[nodiscard]] std::uint64_t size() const override { return size_; }
  [[nodiscard]] const std::string& name() const override { return name_; }

 private:
  // Until there is something to read, or a reason to stop.
  Result<void> wait() const {
    std::array<pollfd, 2> watched{pollfd{.fd = fd_, .events = POLLIN, .revents = 0},
                                  pollfd{.fd = stop_fd_, .events = POLLIN, .revents = 0}};
    while (::poll(watched.data(), watched.size(), -1) < 0) {
      if (errno != EINTR) return fail(system_error("read", name_, errno));
    }
    if (watched[1].revents != 0) {
      return fail(ErrorCode::kCancelled, fmt::format("reading {} was interrupted", name_));
    }
    return {};
  }

  int fd_;
  int stop_fd_;
  std::string name_;
  std::uint64_t size_;
  bool seekable_;
  std::uint64_t taken_ = 0;
};

class ZstdSource final : public Source {
 public:
  explicit ZstdSource(std::unique_ptr<Source> inner) : inner_{std::move(inner)} {}

  Result<std::size_t> read(char* to, std::size_t size) override {
    ZSTD_outBuffer out{to, size, 0};
    while (out.pos == 0) {
      if (in_.pos == in_.size && !ended_) {
        auto got = inner_->read(block_.data(), block_.size());
        if (!got) return got;
        in_ = {block_.data(), *got, 0};
        ended_ = *got == 0;
      }
      // Between frames the end is the end; inside one, what the decoder still holds comes first.
      if (ended_ && frame_done_) return 0;
      const std::size_t left = ZSTD_decompressStream(context_.get(), &out, &in_);
      if (ZSTD_isError(left) != 0) return broken(ZSTD_getErrorName(left));
      frame_done_ = left == 0;
      if (ended_ && !frame_done_ && out.pos == 0) return broken("it breaks off");
    }
    return out.pos;
  }

  [[nodiscard]] bool seekable() const override { return inner_->seekable(); }

  // From the beginning, as frames cannot be entered in the middle.
  Result<void> seek(std::uint64_t byte) override {
    if (auto ok = inner_->seek(0); !ok) return ok;
    ZSTD_DCtx_reset(context_.get(), ZSTD_reset_session_only);
    in_ = {};
    frame_done_ = true;
    ended_ = false;
    std::array<char, 65536> scratch{};
    while (byte > 0) {
      auto got = read(scratch.data(), std::min<std::size_t>(byte, scratch.size()));
      if (!got) return fail(std::move(got.error()));
      if (*got == 0) return broken("it has become shorter");
      byte -= *got;
    }
    return {};
  }

  [[nodiscard]] std::uint64_t taken() const override { return inner_->taken(); }
  [[nodiscard]] std::uint64_t size() const override { return inner_->size(); }
  [[nodiscard]] const std::string& name() const override { return inner_->name(); }

 private:
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };

  [[nodiscard]] std::unexpected<Error> broken(std::string_view reason) const {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} cannot be decompressed after {} of its bytes: {}. Names that end "
                            "with .zst must be whole zstd files",
                            name(), taken(), reason));
  }

  std::unique_ptr<Source> inner_;
  std::unique_ptr<ZSTD_DCtx, Free> context_{ZSTD_createDCtx()};
  std::array<char, 65536> block_{};
  ZSTD_inBuffer in_{};
  bool frame_done_ = true;  // nothing is half read
  bool ended_ = false;
};

}  // namespace

Result<std::unique_ptr<Source>> Source::open(const std::string& path, int stop_fd) {
  const bool standard_input = path.empty() || path == "-";
  const int fd = standard_input ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail(system_error("open", path, errno));
  struct stat about{};
  const bool known = ::fstat(fd, &about) == 0;
  if (known && S_ISDIR(about.st_mode)) {
    if (!standard_input) ::close(fd);
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("cannot read {}: it is a directory, not a file", path));
  }
  const bool regular = known && S_ISREG(about.st_mode);
  auto plain = std::make_unique<PlainSource>(
      fd, stop_fd, standard_input ? "standard input" : path,
      regular ? static_cast<std::uint64_t>(about.st_size) : 0, regular && !standard_input);
  if (!standard_input && path.ends_with(".zst")) {
    return std::make_unique<ZstdSource>(std::move(plain));
  }
  return plain;
}

}  // namespace holdfast::cli
