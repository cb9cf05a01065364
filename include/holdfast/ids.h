// Strong types for positions, epochs and identifiers, so that none is taken for another.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <holdfast/result.h>

namespace holdfast {

class Random;

/// A record's position in its log: dense, from 0, given at commit and never reused.
struct Offset {
  std::uint64_t value = 0;

  friend constexpr auto operator<=>(Offset, Offset) = default;
  friend constexpr Offset operator+(Offset at, std::uint64_t count) {
    return Offset{at.value + count};
  }
  /// How many records lie in [from, to). `from` must not be after `to`.
  friend constexpr std::uint64_t operator-(Offset to, Offset from) { return to.value - from.value; }
};

/// The number that fences out former owners: a writer with a lower epoch than its log's is refused.
struct Epoch {
  std::uint64_t value = 0;
  friend constexpr auto operator<=>(Epoch, Epoch) = default;
};

/// A ULID (https://github.com/ulid/spec): 48 bits of milliseconds, 80 random bits; sorts by time as
/// bytes and as text.
class Ulid {
 public:
  constexpr Ulid() = default;
  /// Makes one for a moment, in milliseconds since 1970 (only its low 48 bits are kept).
  [[nodiscard]] static Ulid make(std::uint64_t time_ms, Random& random);
  /// Reads 26 characters of Crockford base 32, in either case. Refuses anything else, overflow
  /// included.
  [[nodiscard]] static Result<Ulid> parse(std::string_view text);

  /// 26 upper-case characters.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::uint64_t time_ms() const;

  friend constexpr auto operator<=>(const Ulid&, const Ulid&) = default;

 private:
  std::array<std::uint8_t, 16> bytes_{};
};

}  // namespace holdfast

template <>
struct std::hash<holdfast::Offset> {
  std::size_t operator()(holdfast::Offset offset) const noexcept {
    return std::hash<std::uint64_t>{}(offset.value);
  }
};
