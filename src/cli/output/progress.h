// How far long work has come: a bar on a terminal, a plain line every few seconds elsewhere.
//
// The texts are pure functions of the state, so that they can be looked at in tests; the meter only
// decides when to show one.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "cli/output/output.h"
#include "cli/output/style.h"

namespace holdfast::cli {

/// Where the work stands. Amounts are bytes unless `unit` names something else.
struct ProgressState {
  std::string_view doing;        ///< "import chat/1"
  std::string_view unit;         ///< "" for bytes, else the singular of what is counted: "record"
  std::uint64_t started_at = 0;  ///< done before this run (an import that goes on)
  std::uint64_t done = 0;
  std::uint64_t total = 0;  ///< 0 = not known
  std::uint64_t lines = 0;  ///< lines taken in this run; 0 = not shown
  std::chrono::milliseconds elapsed{};
};

/// One line, at most `columns` wide: "import chat/1  ━━━━━━╌╌╌╌  61 %  1.3 MB  41,200 lines/s  3.4
/// MB/s 2.1 s left".
[[nodiscard]] std::string progress_bar(const ProgressState& state, std::size_t columns,
                                       const Style& style);
/// The same as a sentence for logs, without a bar.
[[nodiscard]] std::string progress_line(const ProgressState& state);
/// How long the rest takes at the rate so far; negative when that cannot be known.
[[nodiscard]] std::chrono::milliseconds time_left(const ProgressState& state);

/// Shows progress on standard error, not more often than a person can see. One thread at a time.
class ProgressMeter {
 public:
  enum class Mode : std::uint8_t { kNone, kBar, kLines };
  using TimeSource = std::chrono::steady_clock::time_point (*)();

  ProgressMeter(Output& to, Style style, Mode mode, std::string doing, std::string unit = {},
                TimeSource now = &std::chrono::steady_clock::now);
  ProgressMeter(const ProgressMeter&) = delete;
  ProgressMeter& operator=(const ProgressMeter&) = delete;
  /// Takes the bar away.
  ~ProgressMeter();

  /// What had been done before: it counts for the bar, not for the rate.
  void start_at(std::uint64_t done);
  void update(std::uint64_t done, std::uint64_t total, std::uint64_t lines = 0);
  /// Takes the bar away, so that other text can follow.
  void clear();
  [[nodiscard]] std::chrono::milliseconds elapsed() const;

 private:
  Output& to_;
  Style style_;
  Mode mode_;
  std::string doing_;
  std::string unit_;
  TimeSource now_;
  std::chrono::steady_clock::time_point begun_;
  std::chrono::steady_clock::time_point shown_;
  std::uint64_t started_at_ = 0;
  bool bar_stands_ = false;
};

/// What fits: a bar on a terminal, nothing elsewhere unless `asked` (then lines); nothing when
/// `quiet`.
[[nodiscard]] ProgressMeter::Mode progress_mode(const Style& style, bool asked, bool quiet);

}  // namespace holdfast::cli
