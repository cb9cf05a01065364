#include "core/stream/offset_token.h"

#include <fmt/format.h>

#include <holdfast/check.h>

#include "core/log/names.h"

namespace holdfast::core {
namespace {

constexpr std::string_view kFirstHalf = "0000000000000000_";
constexpr std::size_t kDigits = 16;

}  // namespace

std::string format_offset_token(Offset offset) {
  HOLDFAST_CHECK(offset.value <= kTokenOffsetMax, "an offset has outgrown its token");
  return fmt::format("{}{:016}", kFirstHalf, offset.value);
}

Result<Offset> parse_offset(std::string_view text) {
  const bool shaped = text.size() == kFirstHalf.size() + kDigits && text.starts_with(kFirstHalf);
  std::uint64_t value = 0;
  bool digits = shaped;
  for (std::size_t i = kFirstHalf.size(); digits && i < text.size(); ++i) {
    digits = text[i] >= '0' && text[i] <= '9';
    if (digits) value = value * 10 + static_cast<std::uint64_t>(text[i] - '0');
  }
  if (!digits) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is not an offset: give one that the server handed out, like "
                            "'{}0000000000000042', or '-1' or 'now' where those are allowed",
                            printable(text), kFirstHalf));
  }
  return Offset{value};
}

Result<OffsetToken> parse_offset_token(std::string_view text) {
  if (text == "-1") return OffsetToken{};
  if (text == "now") return OffsetToken{OffsetToken::Kind::kNow, {}};
  const auto at = parse_offset(text);
  if (!at) return fail(at.error());
  return OffsetToken{OffsetToken::Kind::kAt, *at};
}

}  // namespace holdfast::core
