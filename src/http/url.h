// Request targets: paths and queries as they come from outside.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::http {

/// Undoes percent-encoding; nothing if a `%` is not followed by two hexadecimal digits.
[[nodiscard]] std::optional<std::string> percent_decode(std::string_view text);

/// A query's names and values, decoded, in order.
class Query {
 public:
  /// Reads `a=1&b=2`; nothing if the encoding is broken. `+` stands for a space.
  [[nodiscard]] static std::optional<Query> parse(std::string_view text);
  /// The first value of a name.
  [[nodiscard]] std::optional<std::string_view> get(std::string_view name) const;
  [[nodiscard]] std::size_t count(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, std::string>> items_;
};

/// Decimal digits alone, without sign, that fit; nothing otherwise.
[[nodiscard]] std::optional<std::uint64_t> parse_decimal(std::string_view text);

/// ASCII case does not count.
[[nodiscard]] bool equals_ignoring_case(std::string_view a, std::string_view b);

/// Without spaces and tabs at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);

}  // namespace holdfast::http
