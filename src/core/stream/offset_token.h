// Offsets as they stand in URLs and event ids: "0000000000000000_" and sixteen digits. Tokens of
// one stream sort as text in the order of their offsets.
#pragma once

#include <string>
#include <string_view>

#include <holdfast/ids.h>
#include <holdfast/result.h>

namespace holdfast::core {

/// The largest offset a token can hold.
inline constexpr std::uint64_t kTokenOffsetMax = 9'999'999'999'999'999;

/// "0000000000000000_0000000000000042" for 42.
[[nodiscard]] std::string format_offset_token(Offset offset);

/// What a client may give where an offset is asked for.
struct OffsetToken {
  enum class Kind : std::uint8_t {
    kBeginning,  ///< "-1"
    kAt,         ///< a token
    kNow,        ///< "now": the tail
  };
  Kind kind = Kind::kBeginning;
  Offset offset{};
};

/// Reads "-1", "now" or a token of exactly the form above; anything else is `kInvalidArgument`.
[[nodiscard]] Result<OffsetToken> parse_offset_token(std::string_view text);

/// Reads only the token form: what a cursor or a `Last-Event-ID` must be.
[[nodiscard]] Result<Offset> parse_offset(std::string_view text);

}  // namespace holdfast::core
