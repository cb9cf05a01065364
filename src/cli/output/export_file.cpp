#include "cli/output/export_file.h"

#include <fcntl.h>
#include <unistd.h>
#include <zstd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>

namespace holdfast::cli {
namespace {

class ToStandardOutput final : public ExportFile {
 public:
  explicit ToStandardOutput(Output& out) : out_{out} {}
  bool write(std::string_view bytes) override { return out_.write(bytes); }
  [[nodiscard]] Result<void> status() const override { return out_.status(); }
  Result<void> commit() override { return status(); }

 private:
  Output& out_;
};

class ToFile : public ExportFile {
 public:
  ToFile(int fd, std::string path, std::string temporary)
      : fd_{fd}, path_{std::move(path)}, temporary_{std::move(temporary)}, out_{fd, path_} {}

  ~ToFile() override {
    if (fd_ >= 0) ::close(fd_);
    if (!committed_) ::unlink(temporary_.c_str());
  }

  bool write(std::string_view bytes) override { return out_.write(bytes); }
  [[nodiscard]] Result<void> status() const override { return out_.status(); }

  Result<void> commit() override {
    out_.flush();
    if (auto ok = out_.status(); !ok) return ok;
    const bool synced = ::fsync(fd_) == 0;
    if (!synced || ::close(std::exchange(fd_, -1)) != 0) {
      return fail(system_error("write", path_, errno));
    }
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
      return fail(system_error("name", path_, errno));
    }
    committed_ = true;
    return {};
  }

 private:
  int fd_;
  std::string path_;
  std::string temporary_;
  bool committed_ = false;

 protected:
  Output out_;
};

class ToCompressedFile final : public ToFile {
 public:
  using ToFile::ToFile;

  bool write(std::string_view bytes) override { return feed(bytes, ZSTD_e_continue); }

  Result<void> commit() override {
    feed({}, ZSTD_e_end);
    return ToFile::commit();
  }

 private:
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };

  bool feed(std::string_view bytes, ZSTD_EndDirective how) {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    for (;;) {
      ZSTD_outBuffer out{block_.data(), block_.size(), 0};
      const std::size_t left = ZSTD_compressStream2(context_.get(), &out, &in, how);
      if (!out_.write({block_.data(), out.pos})) return false;
      const bool done = how == ZSTD_e_end ? left == 0 : in.pos == in.size;
      if (done) return true;
    }
  }

  std::unique_ptr<ZSTD_CCtx, Free> context_{ZSTD_createCCtx()};
  std::array<char, 32768> block_{};
};

}  // namespace

Result<std::unique_ptr<ExportFile>> ExportFile::create(const std::string& path,
                                                       Output& standard_output) {
  if (path.empty() || path == "-") return std::make_unique<ToStandardOutput>(standard_output);
  std::string temporary = fmt::format("{}.{}.part", path, ::getpid());
  constexpr mode_t kMode = 0666;
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode);
  if (fd < 0) return fail(system_error("write", path, errno));
  if (path.ends_with(".zst")) {
    return std::make_unique<ToCompressedFile>(fd, path, std::move(temporary));
  }
  return std::make_unique<ToFile>(fd, path, std::move(temporary));
}

}  // namespace holdfast::cli
