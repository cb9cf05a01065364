#include "http/response.h"

#include <array>
#include <chrono>
#include <cstdint>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "http/url.h"

namespace holdfast::http {
namespace {

struct Phrase {
  int status;
  std::string_view text;
};

constexpr std::array kPhrases{
    Phrase{200, "OK"},
    Phrase{201, "Created"},
    Phrase{204, "No Content"},
    Phrase{304, "Not Modified"},
    Phrase{400, "Bad Request"},
    Phrase{401, "Unauthorized"},
    Phrase{403, "Forbidden"},
    Phrase{404, "Not Found"},
    Phrase{405, "Method Not Allowed"},
    Phrase{408, "Request Timeout"},
    Phrase{409, "Conflict"},
    Phrase{410, "Gone"},
    Phrase{412, "Precondition Failed"},
    Phrase{413, "Content Too Large"},
    Phrase{417, "Expectation Failed"},
    Phrase{421, "Misdirected Request"},
    Phrase{431, "Request Header Fields Too Large"},
    Phrase{499, "Client Closed Request"},
    Phrase{500, "Internal Server Error"},
    Phrase{501, "Not Implemented"},
    Phrase{503, "Service Unavailable"},
    Phrase{504, "Gateway Timeout"},
    Phrase{505, "HTTP Version Not Supported"},
    Phrase{507, "Insufficient Storage"},
};

struct Moment {
  std::chrono::year_month_day day;
  std::chrono::hh_mm_ss<std::chrono::milliseconds> time;
  unsigned weekday;
};

Moment split(Timestamp at) {
  using namespace std::chrono;
  const sys_time<milliseconds> moment{milliseconds{at.ms}};
  const auto midnight = floor<days>(moment);
  return {.day = year_month_day{midnight},
          .time = hh_mm_ss<milliseconds>{moment - midnight},
          .weekday = weekday{midnight}.c_encoding()};
}

// Takes exactly `digits` decimal digits off the front.
std::optional<int> take_number(std::string_view& text, std::size_t digits) {
  if (text.size() < digits) return std::nullopt;
  const auto value = parse_decimal(text.substr(0, digits));
  if (!value) return std::nullopt;
  text.remove_prefix(digits);
  return static_cast<int>(*value);
}

bool take(std::string_view& text, std::string_view any_of) {
  if (text.empty() || !any_of.contains(text.front())) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<std::chrono::minutes> parse_zone(std::string_view text) {
  if (text == "Z" || text == "z") return std::chrono::minutes{0};
  if (text.size() != 6) return std::nullopt;
  const bool west = text.front() == '-';
  if (!take(text, "+-")) return std::nullopt;
  const auto hours = take_number(text, 2);
  const bool colon = take(text, ":");
  const auto minutes = take_number(text, 2);
  if (!hours || !colon || !minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  const std::chrono::minutes offset{*hours * 60 + *minutes};
  return west ? -offset : offset;
}

}  // namespace

std::string error_json(const Error& error) {
  const nlohmann::json body{{"error",
                             {{"code", error_name(error.code)},
                              {"message", error.message},
                              {"remedy", remedy_name(error.remedy)},
                              {"expected", error.expected},
                              {"actual", error.actual}}}};
  return body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Response error_response(int status, const Error& error) {
  Response response{status};
  response.set("Content-Type", "application/json");
  response.set("Cache-Control", "no-store");
  if (status == 503) response.set("Retry-After", "1");
  response.body = error_json(error);
  return response;
}

Response error_response(const Error& error) {
  return error_response(http_status(error.code), error);
}

std::string_view reason_phrase(int status) {
  for (const Phrase& phrase : kPhrases) {
    if (phrase.status == status) return phrase.text;
  }
  return "Unknown";
}

std::string http_date(Timestamp at) {
  static constexpr std::array<std::string_view, 7> kDays{"Sun", "Mon", "Tue", "Wed",
                                                         "Thu", "Fri", "Sat"};
  static constexpr std::array<std::string_view, 12> kMonths{
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const Moment moment = split(at);
  return fmt::format("{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT", kDays[moment.weekday],
                     static_cast<unsigned>(moment.day.day()),
                     kMonths[static_cast<unsigned>(moment.day.month()) - 1],
                     static_cast<int>(moment.day.year()), moment.time.hours().count(),
                     moment.time.minutes().count(), moment.time.seconds().count());
}

std::string rfc3339(Timestamp at) {
  const Moment moment = split(at);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
                     static_cast<int>(moment.day.year()), static_cast<unsigned>(moment.day.month()),
                     static_cast<unsigned>(moment.day.day()), moment.time.hours().count(),
                     moment.time.minutes().count(), moment.time.seconds().count(),
                     moment.time.subseconds().count());
}

std::optional<Timestamp> parse_rfc3339(std::string_view text) {
  using namespace std::chrono;
  const auto year = take_number(text, 4);
  if (!year || !take(text, "-")) return std::nullopt;
  const auto month = take_number(text, 2);
  if (!month || !take(text, "-")) return std::nullopt;
  const auto day = take_number(text, 2);
  if (!day || !take(text, "Tt ")) return std::nullopt;
  const auto hour = take_number(text, 2);
  if (!hour || !take(text, ":")) return std::nullopt;
  const auto minute = take_number(text, 2);
  if (!minute || !take(text, ":")) return std::nullopt;
  const auto second = take_number(text, 2);
  if (!second || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  std::int64_t fraction_ms = 0;
  if (take(text, ".")) {
    std::int64_t scale = 100;
    std::size_t digits = 0;
    while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') {
      fraction_ms += (text[digits] - '0') * scale;
      scale /= 10;
      ++digits;
    }
    if (digits == 0) return std::nullopt;
    text.remove_prefix(digits);
  }
  const auto zone = parse_zone(text);
  const year_month_day date{std::chrono::year{*year},
                            std::chrono::month{static_cast<unsigned>(*month)},
                            std::chrono::day{static_cast<unsigned>(*day)}};
  if (!zone || !date.ok()) return std::nullopt;
  const auto moment = sys_days{date} + hours{*hour} + minutes{*minute} + seconds{*second} - *zone;
  return Timestamp{duration_cast<milliseconds>(moment.time_since_epoch()).count() + fraction_ms};
}

}  // namespace holdfast::http
