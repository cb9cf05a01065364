// Was there one order? Checks a recorded history of concurrent clients of one log: is there an
// order of the operations, each at one moment between its call and its return, in which every
// answer is the one a log gives?
//
// The search is that of Wing and Gong with Lowe's memory of states tried (the pairs of "what has
// happened" and "what the log is then").
//
// Left to others: recording; what a log may answer beyond appends, reads and tails.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace holdfast::sim {

/// One operation of one client. Values stand for records; each is appended once.
struct LogOperation {
  enum class Kind : std::uint8_t { kAppend, kRead, kTail };
  enum class Outcome : std::uint8_t {
    kOk,
    kStale,    ///< refused: the tail was `at`, not the one expected
    kClosed,   ///< refused: the log was closed at `at`
    kUnknown,  ///< the answer was lost: it may have happened, at any later moment, or not
  };
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

  Kind kind{};
  Outcome outcome{};
  std::uint64_t called = 0;             ///< moments, all different
  std::uint64_t returned = kNever;      ///< `kNever` if the answer was lost
  std::vector<std::uint64_t> values{};  ///< appended, or read from `at` to the end of the page
  std::optional<std::uint64_t> expected_tail{};
  bool closes = false;   ///< an append that closes
  std::uint64_t at = 0;  ///< appends: the first offset, or what refused it; reads: from; tail: it
  bool to_tail = false;  ///< reads: nothing lay beyond
  bool closed = false;   ///< reads and tails: what was said
};

struct Linearization {
  bool possible = false;
  std::uint64_t steps = 0;  ///< how long the search was
  /// The longest part of an order that was found, one operation a line; for a failed test.
  std::string best{};
};

[[nodiscard]] Linearization linearize(std::span<const LogOperation> history);

}  // namespace holdfast::sim
