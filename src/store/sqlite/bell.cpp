#include "store/sqlite/bell.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>
#include <thread>

#include <holdfast/check.h>

namespace holdfast::store {
namespace {

// Seeds keep a space apart from a log of the same name. Part of the file's format.
constexpr std::uint64_t kLogSeed = 0x6c6f67;
constexpr std::uint64_t kSpaceSeed = 0x7370616365;

constexpr int kOpenAttempts = 50;
constexpr auto kOpenPause = std::chrono::milliseconds{1};

BellSlot slot_of(std::uint64_t hash) {
  return static_cast<BellSlot>(static_cast<std::uint16_t>(hash % kBellCounters));
}

/// Closes the descriptor unless it is taken out.
class OwnedFd {
 public:
  explicit OwnedFd(int fd) : fd_{fd} {}
  OwnedFd(OwnedFd&& other) noexcept : fd_{std::exchange(other.fd_, -1)} {}
  OwnedFd& operator=(OwnedFd&&) = delete;
  ~OwnedFd() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

std::string bell_path(const std::string& store_path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path resolved = fs::weakly_canonical(store_path, error);
  return (error ? store_path : resolved.string()) + "-bell";
}

std::unexpected<Error> refused(const std::string& path, std::string_view what, int error) {
  const bool full = error == ENOSPC || error == EDQUOT;
  return fail(
      full ? ErrorCode::kDiskFull : ErrorCode::kIo,
      fmt::format("cannot {} the doorbell file '{}': {}; {}", what, path, std::strerror(error),
                  full ? "free some space (it needs 56 KB) and open the store again"
                       : "the store needs a local directory that it may write to"));
}

/// Takes a lock, waiting if need be; false on an error other than a signal.
bool lock_file(int fd, int operation) {
  while (::flock(fd, operation) != 0) {
    if (errno != EINTR) return false;
  }
  return true;
}

/// The mode for a new file: the store's own, so that whoever may write the one may ring the other.
mode_t mode_like(const std::string& store_path) {
  struct stat status{};
  if (::stat(store_path.c_str(), &status) != 0) return 0644;
  return status.st_mode & 0666;
}

bool same_file(int fd, const std::string& path) {
  struct stat ours{};
  struct stat there{};
  return ::fstat(fd, &ours) == 0 && ::lstat(path.c_str(), &there) == 0 &&
         ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

Result<BellLayout*> map(int fd, const std::string& path) {
  void* const at = ::mmap(nullptr, sizeof(BellLayout), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) return refused(path, "map", errno);
  return std::launder(static_cast<BellLayout*>(at));
}

/// Makes the file anew. Only under the exclusive lock: nobody else has it mapped.
Result<void> initialise(int fd, const std::string& path) {
  int error = 0;
  do {
    error = ::posix_fallocate(fd, 0, sizeof(BellLayout));
  } while (error == EINTR);
  if (error != 0) return refused(path, "allocate", error);
  // Longer only if damaged. It is never made shorter than what a map of it may touch.
  if (::ftruncate(fd, sizeof(BellLayout)) != 0) return refused(path, "cut", errno);
  auto layout = map(fd, path);
  if (!layout) return fail(std::move(layout.error()));
  (*layout)->magic.store(0);
  std::memset(static_cast<void*>(*layout), 0, sizeof(BellLayout));
  (*layout)->version = kBellVersion;
  (*layout)->bytes = sizeof(BellLayout);
  (*layout)->magic.store(kBellMagic);
  ::munmap(*layout, sizeof(BellLayout));
  return {};
}

enum class State : std::uint8_t { kGood, kDamaged, kOtherVersion };

/// What the file is; read through the descriptor, so that a short file does no harm.
State inspect(int fd) {
  struct Header {
    std::uint64_t magic;
    std::uint32_t version;
    std::uint32_t bytes;
  } header{};
  struct stat status{};
  if (::fstat(fd, &status) != 0 || ::pread(fd, &header, sizeof header, 0) != sizeof header ||
      header.magic != kBellMagic) {
    return State::kDamaged;
  }
  if (header.version != kBellVersion) return State::kOtherVersion;
  const bool whole = header.bytes == sizeof(BellLayout) &&
                     status.st_size == static_cast<off_t>(sizeof(BellLayout));
  return whole ? State::kGood : State::kDamaged;
}

Result<OwnedFd> open_file(const std::string& path, const std::string& store_path) {
  constexpr int kFlags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  int fd = ::open(path.c_str(), kFlags);
  if (fd < 0 && errno == ENOENT) {
    const mode_t mode = mode_like(store_path);
    fd = ::open(path.c_str(), kFlags | O_CREAT | O_EXCL, mode);
    if (fd >= 0) {
      (void)::fchmod(fd, mode);  // as the store's file, whatever the umask says
    } else if (errno == EEXIST) {
      fd = ::open(path.c_str(), kFlags);  // another process was faster
    }
  }
  if (fd < 0) return refused(path, "open", errno);
  OwnedFd owned{fd};
  struct stat status{};
  if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
    return fail(ErrorCode::kIo,
                fmt::format("'{}' is not a file, but the doorbell needs that name; move it", path));
  }
  return owned;
}

/// Opens, locks and, if first, clears the file. Ends with the shared lock held and the file good,
/// or with the state that kept it from that.
struct Attempt {
  OwnedFd fd;
  State state = State::kGood;
  bool replaced = false;  ///< somebody deleted it between opening and locking
};

Result<Attempt> attempt(const std::string& path, const std::string& store_path) {
  auto fd = open_file(path, store_path);
  if (!fd) return fail(std::move(fd.error()));
  if (::flock(fd->get(), LOCK_EX | LOCK_NB) == 0) {
    if (same_file(fd->get(), path)) {
      if (auto made = initialise(fd->get(), path); !made) return fail(std::move(made.error()));
    }
  } else if (errno != EWOULDBLOCK && errno != EINTR) {
    return refused(path, "lock", errno);
  }
  // Not atomic after an exclusive lock: another may be first in between and clear the file again,
  // which we have not used yet.
  if (!lock_file(fd->get(), LOCK_SH)) return refused(path, "lock", errno);
  const State state = inspect(fd->get());
  const bool replaced = !same_file(fd->get(), path);
  return Attempt{std::move(*fd), state, replaced};
}

}  // namespace

BellSlot bell_slot_of_log(std::string_view home, std::string_view log) {
  const std::uint64_t seed = XXH3_64bits_withSeed(home.data(), home.size(), kLogSeed);
  return slot_of(XXH3_64bits_withSeed(log.data(), log.size(), seed));
}

BellSlot bell_slot(const LogKey& log) { return bell_slot_of_log(log.home, log.log); }

BellSlot bell_slot_of_space(std::string_view space) {
  return slot_of(XXH3_64bits_withSeed(space.data(), space.size(), kSpaceSeed));
}

Result<std::unique_ptr<Bell>> Bell::open(const std::string& store_path) {
  std::string path = bell_path(store_path);
  State state = State::kDamaged;
  for (int i = 0; i < kOpenAttempts; ++i) {
    auto tried = attempt(path, store_path);
    if (!tried) return fail(std::move(tried.error()));
    state = tried->state;
    if (state == State::kGood && !tried->replaced) {
      auto layout = map(tried->fd.get(), path);
      if (!layout) return fail(std::move(layout.error()));
      return std::unique_ptr<Bell>{new Bell{std::move(path), tried->fd.release(), *layout}};
    }
    std::this_thread::sleep_for(kOpenPause);
  }
  if (state == State::kOtherVersion) {
    return fail(ErrorCode::kSchema,
                fmt::format("the doorbell file '{}' is in use by another version of the program; "
                            "stop that program, then open the store again",
                            path));
  }
  return fail(ErrorCode::kCorrupt,
              fmt::format("the doorbell file '{}' was damaged while programs have the store open; "
                          "stop them all, then open the store again (the file holds no data and "
                          "is made anew)",
                          path));
}

Bell::Bell(std::string path, int fd, BellLayout* layout)
    : path_{std::move(path)}, fd_{fd}, layout_{layout} {}

bool Bell::replaced() const { return !same_file(fd_, path_); }

void Bell::ring(std::span<const BellSlot> slots) {
  std::uint64_t groups = 0;
  for (const BellSlot slot : slots) {
    const auto index = static_cast<std::size_t>(slot);
    layout_->counters[index].fetch_add(1);
    groups |= std::uint64_t{1} << (index / kCountersPerGroup);
  }
  for (std::uint64_t left = groups; left != 0; left &= left - 1) {
    BellGroup& group = layout_->groups[static_cast<std::size_t>(std::countr_zero(left))];
    group.word.fetch_add(1);
    if (group.watchers.load() != 0) futex_wake(group.word, kWakeAll, true);
  }
  if (groups != 0 && layout_->everything_watchers.load() != 0) {
    layout_->everything.fetch_add(1);
    futex_wake(layout_->everything, kWakeAll, true);
  }
}

void Bell::writer_done() {
  layout_->turns.fetch_add(1);
  if (layout_->turn_waiters.load() != 0) futex_wake(layout_->turns, 1, true);
}

bool TurnWait::wait(std::chrono::milliseconds limit) {
  BellLayout& layout = bell_.layout();
  layout.turn_waiters.fetch_add(1);
  if (layout.turns.load() == seen_) futex_wait(layout.turns, seen_, limit);
  layout.turn_waiters.fetch_sub(1);
  const std::uint32_t now = layout.turns.load();
  const bool ended = now != seen_;
  seen_ = now;
  return ended;
}

}  // namespace holdfast::store
