#include "http/offset_token.h"

#include <fmt/format.h>

#include "http/url.h"

namespace holdfast::http {

std::string offset_token(Offset offset) {
  return fmt::format("0000000000000000_{:016}", offset.value);
}

std::optional<Offset> parse_offset_token(std::string_view token) {
  const std::size_t bar = token.find('_');
  if (bar == std::string_view::npos) return std::nullopt;
  const auto high = parse_decimal(token.substr(0, bar));
  const auto low = parse_decimal(token.substr(bar + 1));
  if (!high || *high != 0 || !low) return std::nullopt;
  return Offset{*low};
}

}  // namespace holdfast::http
