#include "cli/output/progress.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "cli/output/text.h"

namespace holdfast::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kBarEvery{100};
constexpr milliseconds kLineEvery{3000};

std::uint64_t per_second(std::uint64_t amount, milliseconds elapsed) {
  if (elapsed.count() <= 0) return 0;
  return static_cast<std::uint64_t>(static_cast<double>(amount) * 1000.0 /
                                    static_cast<double>(elapsed.count()));
}

std::string amount_text(const ProgressState& state, std::uint64_t amount) {
  return state.unit.empty() ? bytes_text(amount) : count_of(amount, state.unit);
}

unsigned percent(const ProgressState& state) {
  const std::uint64_t done = std::min(state.done, state.total);
  return static_cast<unsigned>(static_cast<double>(done) * 100.0 /
                               static_cast<double>(state.total));
}

// What stands beside the bar, the more important first.
std::vector<std::string> facts(const ProgressState& state) {
  std::vector<std::string> out;
  if (state.total > 0) out.push_back(fmt::format("{} %", percent(state)));
  out.push_back(amount_text(state, state.done));
  const auto left = time_left(state);
  if (left >= milliseconds{0} && state.done < state.total) out.push_back(span_text(left) + " left");
  if (state.lines > 0) {
    out.push_back(count_text(per_second(state.lines, state.elapsed)) + " lines/s");
  }
  out.push_back(amount_text(state, per_second(state.done - std::min(state.done, state.started_at),
                                              state.elapsed)) +
                "/s");
  return out;
}

}  // namespace

milliseconds time_left(const ProgressState& state) {
  if (state.total == 0 || state.done <= state.started_at || state.elapsed.count() <= 0) {
    return milliseconds{-1};
  }
  if (state.done >= state.total) return milliseconds{0};
  const double rate = static_cast<double>(state.done - state.started_at) /
                      static_cast<double>(state.elapsed.count());
  const double left = static_cast<double>(state.total - state.done) / rate;
  constexpr double kLongestMs = 1e13;
  return milliseconds{static_cast<std::int64_t>(std::min(left, kLongestMs))};
}

std::string progress_bar(const ProgressState& state, std::size_t columns, const Style& style) {
  constexpr std::size_t kBarLeast = 8;
  constexpr std::size_t kBarMost = 30;
  std::string text;
  for (const std::string& fact : facts(state)) {
    const std::size_t bar = state.total > 0 ? kBarLeast + 2 : 0;
    const std::size_t taken = display_width(state.doing) + bar + display_width(text);
    if (!text.empty() && taken + 2 + display_width(fact) > columns) break;
    text += "  " + fact;
  }
  std::string bar;
  const std::size_t used = display_width(state.doing) + display_width(text) + 2;
  if (state.total > 0 && used + kBarLeast <= columns) {
    const std::size_t width = std::min(kBarMost, columns - used);
    const std::size_t full = std::min<std::size_t>(width, width * percent(state) / 100);
    std::string done_part;
    std::string open_part;
    for (std::size_t i = 0; i < width; ++i)
      (i < full ? done_part : open_part) += i < full ? "━" : "╌";
    bar = "  " + style.cyan(done_part) + style.dim(open_part);
  }
  return std::string{state.doing} + bar + text;
}

std::string progress_line(const ProgressState& state) {
  std::string text{state.doing};
  std::string_view between = ": ";
  for (const std::string& fact : facts(state)) {
    text += between;
    text += fact;
    between = ", ";
  }
  return text;
}

ProgressMeter::ProgressMeter(Output& to, Style style, Mode mode, std::string doing,
                             std::string unit, TimeSource now)
    : to_{to},
      style_{style},
      mode_{mode},
      doing_{std::move(doing)},
      unit_{std::move(unit)},
      now_{now},
      begun_{now()},
      shown_{begun_} {}

ProgressMeter::~ProgressMeter() { clear(); }

void ProgressMeter::start_at(std::uint64_t done) { started_at_ = done; }

milliseconds ProgressMeter::elapsed() const {
  return std::chrono::duration_cast<milliseconds>(now_() - begun_);
}

void ProgressMeter::update(std::uint64_t done, std::uint64_t total, std::uint64_t lines) {
  if (mode_ == Mode::kNone) return;
  const auto now = now_();
  if (now - shown_ < (mode_ == Mode::kBar ? kBarEvery : kLineEvery)) return;
  shown_ = now;
  const ProgressState state{doing_, unit_, started_at_, done, total, lines, elapsed()};
  if (mode_ == Mode::kBar) {
    to_.write("\r" + progress_bar(state, style_.columns - 1, style_) + "\x1b[K");
    bar_stands_ = true;
  } else {
    to_.write(progress_line(state) + "\n");
  }
  to_.flush();
}

void ProgressMeter::clear() {
  if (!bar_stands_) return;
  to_.write("\r\x1b[K");
  to_.flush();
  bar_stands_ = false;
}

ProgressMeter::Mode progress_mode(const Style& style, bool asked, bool quiet) {
  if (quiet) return ProgressMeter::Mode::kNone;
  if (style.terminal) return ProgressMeter::Mode::kBar;
  return asked ? ProgressMeter::Mode::kLines : ProgressMeter::Mode::kNone;
}

}  // namespace holdfast::cli
