// The page's files, part of the program: cmake/HoldfastAssets.cmake makes them from web/.
#pragma once

#include <span>
#include <string_view>

#include "http/request.h"
#include "http/response.h"

namespace holdfast::http {

struct Asset {
  std::string_view path;  ///< "/" or "/assets/app.js"
  std::string_view content_type;
  std::string_view etag;  ///< with its quotes; from the bytes
  std::string_view bytes;
};

/// All files, sorted by path.
[[nodiscard]] std::span<const Asset> assets();

/// The file of a path: 200, 304 if the client has it, 404.
[[nodiscard]] Response page_response(const Request& request);

}  // namespace holdfast::http
