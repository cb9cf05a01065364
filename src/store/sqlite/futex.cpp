#include "store/sqlite/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include <holdfast/check.h>

namespace holdfast::store {
namespace {

// Since Linux 5.16, the same number on every architecture; older headers lack the name.
constexpr long kSysFutexWaitv = 449;

struct WaitvEntry {
  std::uint64_t value;
  std::uint64_t address;
  std::uint32_t flags;
  std::uint32_t reserved;
};
constexpr std::uint32_t kFutex32Bits = 2;

std::uint64_t address_of(const FutexWord& word) { return reinterpret_cast<std::uintptr_t>(&word); }

}  // namespace

int futex_wake(const FutexWord& word, int count, bool shared) {
  const int operation = shared ? FUTEX_WAKE : FUTEX_WAKE_PRIVATE;
  const long woken = syscall(SYS_futex, &word, operation, count, nullptr, nullptr, 0);
  return woken < 0 ? 0 : static_cast<int>(woken);
}

FutexResult futex_wait(const FutexWord& word, std::uint32_t expected,
                       std::optional<std::chrono::nanoseconds> timeout, bool shared) {
  timespec limit{};
  if (timeout) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(*timeout);
    limit.tv_sec = seconds.count();
    limit.tv_nsec = (*timeout - seconds).count();
  }
  const long result = syscall(SYS_futex, &word, shared ? FUTEX_WAIT : FUTEX_WAIT_PRIVATE, expected,
                              timeout ? &limit : nullptr, nullptr, 0);
  if (result < 0 && errno == ETIMEDOUT) return FutexResult::kTimedOut;
  return FutexResult::kWoken;
}

FutexResult futex_wait_any(std::span<const FutexWait> waits) {
  HOLDFAST_CHECK(!waits.empty() && waits.size() <= kFutexWaitsMax, "a wait for too many words");
  std::array<WaitvEntry, kFutexWaitsMax> entries;
  for (std::size_t i = 0; i < waits.size(); ++i) {
    const std::uint32_t scope = waits[i].shared ? 0u : FUTEX_PRIVATE_FLAG;
    entries[i] = {waits[i].expected, address_of(*waits[i].word), kFutex32Bits | scope, 0};
  }
  const long result = syscall(kSysFutexWaitv, entries.data(), waits.size(), 0, nullptr, 0);
  if (result < 0 && (errno == ENOSYS || errno == EPERM)) return FutexResult::kUnsupported;
  HOLDFAST_CHECK(result >= 0 || errno == EAGAIN || errno == EINTR || errno == ENOMEM,
                 "the kernel refused a wait for several words");
  return FutexResult::kWoken;
}

bool futex_wait_any_supported() {
  // No words to wait for: a kernel that knows the call finds its arguments wrong.
  return syscall(kSysFutexWaitv, nullptr, 0, 0, nullptr, 0) < 0 && errno == EINVAL;
}

}  // namespace holdfast::store
