// Randomness is an input, too: a generator is seeded once at the edge and handed down.
#pragma once

#include <array>
#include <cstdint>

namespace holdfast {

/// xoshiro256** (https://prng.di.unimi.it): fast, repeatable, not for secrets. One thread at a
/// time.
class Random {
 public:
  /// The same seed gives the same numbers for ever, on every platform.
  explicit Random(std::uint64_t seed);
  /// Seeded by the operating system.
  [[nodiscard]] static Random from_system();

  /// 64 uniform bits.
  std::uint64_t next();
  /// Uniform in [0, bound); `bound` must not be 0.
  std::uint64_t below(std::uint64_t bound);
  /// True once in `n` calls on average.
  bool one_in(std::uint64_t n) { return below(n) == 0; }

 private:
  std::array<std::uint64_t, 4> state_{};
};

}  // namespace holdfast
