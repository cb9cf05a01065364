// Waiting for 32-bit words to change, between threads and between processes. A thin, typed face of
// the kernel's futex calls; what the words mean is bell.h's business.
//
// A wait compares and sleeps in one step: a change made after the expected value was read ends the
// wait, or keeps it from beginning. That is what every "no wake-up is lost" below stands on.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

namespace holdfast::store {

using FutexWord = std::atomic<std::uint32_t>;
static_assert(FutexWord::is_always_lock_free && sizeof(FutexWord) == sizeof(std::uint32_t));

/// Why a wait ended. `kWoken` covers a wake, a value that differed at once, and a signal: the
/// caller looks at the words again in each case.
enum class FutexResult : std::uint8_t { kWoken, kTimedOut, kUnsupported };

/// One word of a wait for several.
struct FutexWait {
  const FutexWord* word = nullptr;
  std::uint32_t expected = 0;
  bool shared = true;  ///< lies in memory that other processes map
};

/// As many waits as one call can take; the kernel's limit.
inline constexpr std::size_t kFutexWaitsMax = 128;

inline constexpr int kWakeAll = std::numeric_limits<int>::max();

/// Wakes at most `count` waiters of a word; returns how many.
int futex_wake(const FutexWord& word, int count, bool shared);
/// Sleeps while a word has the expected value.
FutexResult futex_wait(const FutexWord& word, std::uint32_t expected,
                       std::optional<std::chrono::nanoseconds> timeout = std::nullopt,
                       bool shared = true);
/// Sleeps while all words have their expected values. At most `kFutexWaitsMax`.
FutexResult futex_wait_any(std::span<const FutexWait> waits);
/// Whether this kernel (and what filters its calls) has `futex_wait_any`; asks it once per call.
bool futex_wait_any_supported();

}  // namespace holdfast::store
