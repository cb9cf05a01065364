// JSON bodies of streams: one level of array is a list of chunks.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/bytes.h>
#include <holdfast/result.h>
#include <holdfast/stream.h>

namespace holdfast::http {

/// The values of a body: the elements of a top-level array, else the body itself, exactly as they
/// stand, borrowed. Each is one chunk; that each is valid JSON is checked where it is appended. An
/// empty array gives no values. Errors: `kInvalidArgument` when the array's own form is broken.
[[nodiscard]] Result<std::vector<BytesView>> split_json_body(BytesView body);

/// Chunks as one JSON array.
[[nodiscard]] std::string json_array(std::span<const Chunk> chunks);

/// Whether a media type is JSON as the protocol means it: "application/json", whatever its
/// parameters.
[[nodiscard]] bool is_json(std::string_view content_type);
/// Whether it can stand in server-sent events as it is: text or JSON.
[[nodiscard]] bool is_text(std::string_view content_type);
/// Without parameters and surrounding spaces; case as given.
[[nodiscard]] std::string_view media_type(std::string_view content_type);

}  // namespace holdfast::http
