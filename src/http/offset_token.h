// Cursors as HTTP clients see them: "0000000000000000_0000000000000042" is offset 42. They sort as
// text in the order of the stream; clients must not look inside.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <holdfast/ids.h>

namespace holdfast::http {

[[nodiscard]] std::string offset_token(Offset offset);
/// Two groups of digits with an underscore between; the first must be zero. Nothing otherwise.
[[nodiscard]] std::optional<Offset> parse_offset_token(std::string_view token);

}  // namespace holdfast::http
