// Time is an input. Whoever opens a store or starts a server hands it a clock; nothing below asks
// the system itself, so that tests and simulations own the time.
#pragma once

#include <atomic>
#include <cstdint>

namespace holdfast {

/// Wall-clock time in milliseconds since 1970. It may jump in both directions: order never follows
/// it.
struct Timestamp {
  std::int64_t ms = 0;
  friend constexpr auto operator<=>(Timestamp, Timestamp) = default;
};

/// A source of time. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  /// The wall clock.
  [[nodiscard]] virtual Timestamp now() const = 0;
};

/// The system's wall clock; lives as long as the program.
[[nodiscard]] const Clock& system_clock();

/// A clock that moves only when told to; for tests.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Timestamp start = {1'700'000'000'000}) : ms_{start.ms} {}
  [[nodiscard]] Timestamp now() const override { return {ms_.load()}; }
  /// Moves the time; a negative amount moves it back.
  void advance_ms(std::int64_t amount) { ms_.fetch_add(amount); }
  void set(Timestamp to) { ms_.store(to.ms); }

 private:
  std::atomic<std::int64_t> ms_;
};

}  // namespace holdfast
