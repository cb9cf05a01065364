// Names from outside: bounded, plain, and unable to leave their place.
#pragma once

#include <string_view>

#include <holdfast/result.h>

namespace holdfast::core {

/// Well-formed UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF.
[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

/// A home, log or space name: 1 to kNameBytesMax bytes of UTF-8 without control characters. `what`
/// names it in the error ("home", "space").
[[nodiscard]] Result<void> check_name(std::string_view what, std::string_view name);

/// A stream's name: as above but of at most kStreamNameBytesMax bytes, and no part between slashes
/// is empty, "." or "..".
[[nodiscard]] Result<void> check_stream_name(std::string_view name);

/// The text with control characters and bytes that are not UTF-8 written as \xNN, cut at 80 bytes:
/// fit for an error message or a log line.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace holdfast::core
