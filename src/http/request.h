// A request as it was read: its parts checked for form, not for meaning.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/url.h"

namespace holdfast::http {

enum class Method : std::uint8_t { kGet, kHead, kPost, kPut, kDelete, kOptions, kOther };

struct Request {
  Method method = Method::kOther;
  std::string method_name;
  std::string path;   ///< as sent, still percent-encoded, without query
  std::string query;  ///< as sent
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  bool http_1_0 = false;
  bool keep_alive = true;
  bool expects_continue = false;

  /// The first value of a header, whatever the case of its name.
  [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const {
    for (const auto& [key, value] : headers) {
      if (equals_ignoring_case(key, name)) return std::string_view{value};
    }
    return std::nullopt;
  }
};

}  // namespace holdfast::http
