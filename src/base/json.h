// JSON at the door: is this text one JSON value, and where are the elements of this array? Nothing
// here builds values; the bytes stay as they came.
//
// Invariants: accepts exactly RFC 8259 in UTF-8 (numbers of any size: they are text to us;
// half a surrogate pair may be escaped alone, as it is when a text is cut into deltas), nested
// at most kJsonDepthMax deep; an error names the byte where it became wrong.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include <holdfast/result.h>

namespace holdfast {

/// How deep arrays and objects may nest.
inline constexpr std::size_t kJsonDepthMax = 1'000;

/// Passes if the text is exactly one JSON value (white space around it is fine). Otherwise
/// `kInvalidArgument`: the message names what is wrong, `actual` holds the byte (from 0).
[[nodiscard]] Result<void> check_json(std::string_view text);

/// The elements of a JSON array, as the bytes they stand in, without the white space around them.
/// The whole text is checked. Views point into `text`. An error as from check_json, also if the
/// value is no array.
[[nodiscard]] Result<std::vector<std::string_view>> split_json_array(std::string_view text);

/// True if the first byte that is not white space opens an array.
[[nodiscard]] bool looks_like_json_array(std::string_view text) noexcept;

}  // namespace holdfast
