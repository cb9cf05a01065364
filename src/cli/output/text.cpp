#include "cli/output/text.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace holdfast::cli {
namespace {

struct CalendarTime {
  int year;
  unsigned month;
  unsigned day;
  std::int64_t hours;
  std::int64_t minutes;
  std::int64_t seconds;
  std::int64_t ms;
};

CalendarTime calendar(Timestamp time) {
  using std::chrono::days;
  using std::chrono::floor;
  const std::chrono::sys_time<std::chrono::milliseconds> at{std::chrono::milliseconds{time.ms}};
  const auto day = floor<days>(at);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{at - day};
  return {static_cast<int>(date.year()),     static_cast<unsigned>(date.month()),
          static_cast<unsigned>(date.day()), clock.hours().count(),
          clock.minutes().count(),           clock.seconds().count(),
          clock.subseconds().count()};
}

struct CodePoint {
  std::uint32_t value;
  std::size_t length;
};

// Takes ill-formed bytes one by one.
CodePoint code_point(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  std::size_t length = 1;
  if (lead >= 0xF0) {
    length = 4;
  } else if (lead >= 0xE0) {
    length = 3;
  } else if (lead >= 0xC0) {
    length = 2;
  }
  if (length == 1 || length > text.size()) return {lead, 1};
  std::uint32_t value = lead & (0xFFu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) value = (value << 6) | (byte(i) & 0x3Fu);
  return {value, length};
}

struct Range {
  std::uint32_t from;
  std::uint32_t to;
};

constexpr std::array kCombining{Range{0x300, 0x36F},   Range{0x483, 0x489},   Range{0x591, 0x5BD},
                                Range{0x610, 0x61A},   Range{0x64B, 0x65F},   Range{0x1AB0, 0x1AFF},
                                Range{0x1DC0, 0x1DFF}, Range{0x200B, 0x200F}, Range{0x20D0, 0x20FF},
                                Range{0xFE00, 0xFE0F}, Range{0xFE20, 0xFE2F}};
constexpr std::array kWide{
    Range{0x1100, 0x115F},   Range{0x2E80, 0x303E},   Range{0x3041, 0x33FF},
    Range{0x3400, 0x4DBF},   Range{0x4E00, 0x9FFF},   Range{0xA000, 0xA4CF},
    Range{0xAC00, 0xD7A3},   Range{0xF900, 0xFAFF},   Range{0xFE30, 0xFE4F},
    Range{0xFF00, 0xFF60},   Range{0xFFE0, 0xFFE6},   Range{0x1F300, 0x1F64F},
    Range{0x1F680, 0x1F6FF}, Range{0x1F900, 0x1F9FF}, Range{0x20000, 0x3FFFD}};

template <std::size_t N>
bool within(const std::array<Range, N>& ranges, std::uint32_t value) {
  return std::ranges::any_of(
      ranges, [&](const Range& range) { return value >= range.from && value <= range.to; });
}

}  // namespace

std::string count_text(std::uint64_t count) {
  std::string text = fmt::format("{}", count);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3) {
    text.insert(static_cast<std::size_t>(at), ",");
  }
  return text;
}

std::string count_of(std::uint64_t count, std::string_view singular) {
  return fmt::format("{} {}{}", count_text(count), singular, count == 1 ? "" : "s");
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array kUnits{"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  if (bytes < 1000) return fmt::format("{} B", bytes);
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", value, value < 9.995 ? 2 : (value < 99.95 ? 1 : 0),
                     kUnits.at(unit));
}

std::string span_text(std::chrono::milliseconds span) {
  const std::int64_t ms = span.count();
  if (ms < 1000) return fmt::format("{} ms", ms);
  if (ms < 60'000) return fmt::format("{}.{} s", ms / 1000, ms % 1000 / 100);
  const std::int64_t seconds = ms / 1000;
  const auto two = [](std::int64_t big, const char* big_unit, std::int64_t small,
                      const char* small_unit) {
    return small == 0 ? fmt::format("{} {}", big, big_unit)
                      : fmt::format("{} {} {} {}", big, big_unit, small, small_unit);
  };
  if (seconds < 3600) return two(seconds / 60, "min", seconds % 60, "s");
  if (seconds < 86'400) return two(seconds / 3600, "h", seconds % 3600 / 60, "min");
  return two(seconds / 86'400, "d", seconds % 86'400 / 3600, "h");
}

std::string time_text(Timestamp time) {
  const CalendarTime at = calendar(time);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02} UTC", at.year, at.month, at.day, at.hours,
                     at.minutes, at.seconds);
}

std::string time_iso(Timestamp time) {
  const CalendarTime at = calendar(time);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", at.year, at.month, at.day,
                     at.hours, at.minutes, at.seconds, at.ms);
}

std::string ago_text(Timestamp time, Timestamp now) {
  const std::int64_t ms = now.ms - time.ms;
  const std::int64_t distance = ms < 0 ? -ms : ms;
  if (distance < 1000) return "just now";
  std::int64_t rounded = distance / 1000 * 1000;  // only the largest unit
  for (const std::int64_t unit : {60'000, 3'600'000, 86'400'000}) {
    if (distance >= unit) rounded = distance / unit * unit;
  }
  std::string text = distance < 60'000 ? fmt::format("{} s", rounded / 1000)
                                       : span_text(std::chrono::milliseconds{rounded});
  return ms < 0 ? "in " + text : text + " ago";
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const CodePoint point = code_point(text);
    text.remove_prefix(point.length);
    if (within(kCombining, point.value)) continue;
    width += within(kWide, point.value) ? std::size_t{2} : std::size_t{1};
  }
  return width;
}

std::string padded(std::string_view text, std::size_t width, bool right) {
  const std::size_t taken = display_width(text);
  const std::string space(width > taken ? width - taken : 0, ' ');
  return right ? space + std::string{text} : std::string{text} + space;
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  std::string out;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t end = text.find(' ');
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const std::size_t word_width = display_width(word);
    if (column > 0 && column + 1 + word_width > width) {
      out += "\n" + std::string(indent, ' ');
      column = 0;
    }
    if (column > 0) out += ' ';
    out += word;
    column += word_width + (column > 0 ? 1 : 0);
  }
  return out;
}

std::string shell_quoted(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%+=,";
  const bool plain = text.find_first_not_of(kPlain) == std::string_view::npos;
  if (plain && !text.empty() && text[0] != '-') return std::string{text};
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string{"'\\''"} : std::string{c};
  return out + "'";
}

}  // namespace holdfast::cli
