#include "cli/args/values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

#include <fmt/format.h>

#include "core/log/names.h"

namespace holdfast::cli {
namespace {

std::unexpected<Error> refuse(std::string_view what, std::string_view wants,
                              std::string_view text) {
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("{} wants {}, not '{}'", what, wants, core::printable(text)));
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// All of `text` as digits, with '_' or ',' between them.
std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::string digits;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool groups = (text[i] == '_' || text[i] == ',') && i > 0 && i + 1 < text.size();
    if (!is_digit(text[i]) && !groups) return std::nullopt;
    if (!groups) digits.push_back(text[i]);
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || digits.empty() || end != digits.data() + digits.size()) {
    return std::nullopt;
  }
  return value;
}

// A number with an optional fraction at the start of `text`, which is moved past it.
std::optional<double> leading_number(std::string_view& text) {
  std::size_t length = 0;
  while (length < text.size() && (is_digit(text[length]) || text[length] == '.')) ++length;
  const std::string digits{text.substr(0, length)};
  const char* const last = digits.data() + digits.size();
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), last, value, std::chars_format::fixed);
  if (error != std::errc{} || digits.empty() || end != last) return std::nullopt;
  text.remove_prefix(length);
  return value;
}

// `number` times `unit`, rounded; nothing when it does not fit.
std::optional<std::uint64_t> scaled(double number, double unit) {
  const double product = std::round(number * unit);
  if (!(product >= 0 && product < 9.2e18)) return std::nullopt;
  return static_cast<std::uint64_t>(product);
}

struct Unit {
  std::string_view name;
  double factor;
};

constexpr std::array kByteUnits{Unit{"", 1},
                                Unit{"b", 1},
                                Unit{"k", 1e3},
                                Unit{"kb", 1e3},
                                Unit{"m", 1e6},
                                Unit{"mb", 1e6},
                                Unit{"g", 1e9},
                                Unit{"gb", 1e9},
                                Unit{"t", 1e12},
                                Unit{"tb", 1e12},
                                Unit{"ki", 1024},
                                Unit{"kib", 1024},
                                Unit{"mi", 1048576.0},
                                Unit{"mib", 1048576.0},
                                Unit{"gi", 1073741824.0},
                                Unit{"gib", 1073741824.0},
                                Unit{"ti", 1099511627776.0},
                                Unit{"tib", 1099511627776.0}};

constexpr std::array kTimeUnitsMs{Unit{"ms", 1},    Unit{"s", 1e3},  Unit{"m", 6e4},
                                  Unit{"min", 6e4}, Unit{"h", 36e5}, Unit{"d", 864e5},
                                  Unit{"w", 6048e5}};

template <std::size_t N>
const Unit* find_unit(const std::array<Unit, N>& units, std::string_view name) {
  std::string lower{name};
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const auto found = std::ranges::find(units, std::string_view{lower}, &Unit::name);
  return found == units.end() ? nullptr : &*found;
}

std::optional<std::int64_t> span_ms(std::string_view text) {
  if (const auto seconds = whole_number(text)) {
    const auto ms = scaled(static_cast<double>(*seconds), 1e3);
    return ms ? std::optional{static_cast<std::int64_t>(*ms)} : std::nullopt;
  }
  double total = 0;
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    const auto number = leading_number(text);
    const auto letters = std::ranges::find_if(text, [](char c) { return is_digit(c); });
    const auto length = static_cast<std::size_t>(letters - text.begin());
    const Unit* unit = find_unit(kTimeUnitsMs, text.substr(0, length));
    if (!number || unit == nullptr) return std::nullopt;
    total += *number * unit->factor;
    text.remove_prefix(length);
  }
  const auto ms = scaled(total, 1);
  return ms ? std::optional{static_cast<std::int64_t>(*ms)} : std::nullopt;
}

// The two or four digits at `at`, or nothing.
std::optional<int> digits_at(std::string_view text, std::size_t at, std::size_t count) {
  if (at + count > text.size()) return std::nullopt;
  int value = 0;
  for (const char c : text.substr(at, count)) {
    if (!is_digit(c)) return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

std::optional<Timestamp> calendar_time(std::string_view text) {
  if (text.ends_with('Z')) text.remove_suffix(1);
  const bool with_time = text.size() > 10;
  const bool with_seconds = text.size() > 16;
  if (text.size() != 10 && text.size() != 16 && text.size() != 19) return std::nullopt;
  if (text[4] != '-' || text[7] != '-') return std::nullopt;
  if (with_time && ((text[10] != 'T' && text[10] != ' ') || text[13] != ':')) return std::nullopt;
  if (with_seconds && text[16] != ':') return std::nullopt;
  const auto year = digits_at(text, 0, 4);
  const auto month = digits_at(text, 5, 2);
  const auto day = digits_at(text, 8, 2);
  const auto hour = with_time ? digits_at(text, 11, 2) : std::optional{0};
  const auto minute = with_time ? digits_at(text, 14, 2) : std::optional{0};
  const auto second = with_seconds ? digits_at(text, 17, 2) : std::optional{0};
  if (!year || !month || !day || !hour || !minute || !second) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{*year},
                                         std::chrono::month{static_cast<unsigned>(*month)},
                                         std::chrono::day{static_cast<unsigned>(*day)}};
  if (!date.ok() || *hour > 23 || *minute > 59 || *second > 59) return std::nullopt;
  const auto at = std::chrono::sys_days{date} + std::chrono::hours{*hour} +
                  std::chrono::minutes{*minute} + std::chrono::seconds{*second};
  return Timestamp{
      std::chrono::duration_cast<std::chrono::milliseconds>(at.time_since_epoch()).count()};
}

}  // namespace

Result<void> read_value(std::string_view, std::string_view text, std::string& into) {
  into = text;
  return {};
}

Result<void> read_value(std::string_view what, std::string_view text, std::uint64_t& into) {
  const auto value = whole_number(text);
  if (!value) return refuse(what, "a whole number", text);
  into = *value;
  return {};
}

Result<void> read_value(std::string_view what, std::string_view text, std::uint16_t& into) {
  const auto value = whole_number(text);
  if (!value || *value > std::numeric_limits<std::uint16_t>::max()) {
    return refuse(what, "a whole number from 0 to 65535", text);
  }
  into = static_cast<std::uint16_t>(*value);
  return {};
}

Result<void> read_value(std::string_view what, std::string_view text, ByteCount& into) {
  constexpr std::string_view kWants = "a size such as 4096, 64k or 1.5GiB";
  if (const auto whole = whole_number(text)) {
    into.value = *whole;
    return {};
  }
  std::string_view rest = text;
  const auto number = leading_number(rest);
  const Unit* unit = find_unit(kByteUnits, rest);
  const auto value = number && unit != nullptr ? scaled(*number, unit->factor) : std::nullopt;
  if (!value) return refuse(what, kWants, text);
  into.value = *value;
  return {};
}

Result<void> read_value(std::string_view what, std::string_view text,
                        std::chrono::milliseconds& into) {
  const auto ms = span_ms(text);
  if (!ms) return refuse(what, "a time such as 90s, 15m, 36h, 7d or 1h30m", text);
  into = std::chrono::milliseconds{*ms};
  return {};
}

Result<void> read_value(std::string_view what, std::string_view text, std::chrono::seconds& into) {
  const auto ms = span_ms(text);
  if (!ms || *ms < 1000) {
    return refuse(what, "a time of a second or more, such as 90s, 15m or 7d", text);
  }
  into = std::chrono::seconds{*ms / 1000};
  return {};
}

Result<void> read_value(std::string_view what, std::string_view text, Timestamp& into) {
  constexpr std::string_view kWants = "a moment such as 2026-03-01T12:00:00Z or +2h";
  if (text.starts_with('+')) {
    const auto ms = span_ms(text.substr(1));
    if (!ms) return refuse(what, kWants, text);
    into = Timestamp{system_clock().now().ms + *ms};
    return {};
  }
  const auto at = calendar_time(text);
  if (!at) return refuse(what, kWants, text);
  into = *at;
  return {};
}

Result<void> read_value(std::string_view what, std::string_view text, From& into) {
  if (text == "beginning" || text == "start") {
    into = From::beginning();
    return {};
  }
  if (text == "tail" || text == "end") {
    into = From::tail();
    return {};
  }
  const bool before_tail = text.starts_with('-');
  const auto value = whole_number(before_tail ? text.substr(1) : text);
  if (!value) {
    return refuse(what, "an offset, -N for N chunks before the tail, 'beginning' or 'tail'", text);
  }
  into = before_tail ? From::last(*value) : From{Offset{*value}};
  return {};
}

Result<void> read_value(std::string_view what, std::string_view text, Offset& into) {
  const auto value = whole_number(text);
  if (!value) return refuse(what, "an offset, a whole number", text);
  into = Offset{*value};
  return {};
}

Result<void> read_value(std::string_view what, std::string_view text, Durability& into) {
  if (text != "full" && text != "relaxed") return refuse(what, "'full' or 'relaxed'", text);
  into = text == "full" ? Durability::kFull : Durability::kRelaxed;
  return {};
}

Result<void> read_value(std::string_view what, std::string_view text, FormatChoice& into) {
  if (text != "jsonl" && text != "raw") return refuse(what, "'jsonl' or 'raw'", text);
  into = text == "jsonl" ? FormatChoice::kJsonLines : FormatChoice::kRaw;
  return {};
}

}  // namespace holdfast::cli
