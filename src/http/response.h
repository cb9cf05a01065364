// Answers, before they are bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <holdfast/clock.h>
#include <holdfast/result.h>

namespace holdfast::http {

struct Response {
  int status = 200;
  std::vector<std::pair<std::string_view, std::string>> headers{};  ///< names are literals
  std::string body{};
  std::string_view lasting_body{};  ///< in place of `body`: bytes that live as long as the program
  bool close = false;               ///< the connection ends after this

  Response() = default;
  explicit Response(int code) : status{code} {}

  void set(std::string_view name, std::string value) {
    headers.emplace_back(name, std::move(value));
  }
  [[nodiscard]] std::string_view payload() const {
    return lasting_body.empty() ? std::string_view{body} : lasting_body;
  }
};

/// An error as JSON: {"error":{"code","message","remedy","expected","actual"}}.
[[nodiscard]] std::string error_json(const Error& error);
[[nodiscard]] Response error_response(const Error& error);
/// The same with another status than the code's own.
[[nodiscard]] Response error_response(int status, const Error& error);

/// "Not Found" for 404.
[[nodiscard]] std::string_view reason_phrase(int status);
/// A moment as HTTP dates have it: "Mon, 30 Nov 2026 09:00:00 GMT".
[[nodiscard]] std::string http_date(Timestamp at);
/// A moment as RFC 3339 has it, in UTC with milliseconds: "2026-11-30T09:00:00.000Z".
[[nodiscard]] std::string rfc3339(Timestamp at);
/// Reads RFC 3339; seconds may have a fraction, the zone is Z or an offset. Nothing if malformed.
[[nodiscard]] std::optional<Timestamp> parse_rfc3339(std::string_view text);

}  // namespace holdfast::http
