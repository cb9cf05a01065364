#include "http/page.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/log/names.h"

namespace holdfast::http {
namespace {

// Nothing from elsewhere, nothing inline, no frames: what a stream holds is shown as text and
// cannot become more than that.
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

}  // namespace

Response page_response(const Request& request) {
  const std::span<const Asset> all = assets();
  const auto found = std::ranges::find(all, std::string_view{request.path}, &Asset::path);
  if (found == all.end()) {
    return error_response(Error{ErrorCode::kNotFound, fmt::format("there is nothing at {}",
                                                                  core::printable(request.path))});
  }
  Response response{200};
  response.set("ETag", std::string{found->etag});
  response.set("Cache-Control", "no-cache");
  response.set("Content-Security-Policy", std::string{kPolicy});
  response.set("Referrer-Policy", "no-referrer");
  if (request.header("If-None-Match") == found->etag) {
    response.status = 304;
    return response;
  }
  response.set("Content-Type", std::string{found->content_type});
  response.lasting_body = found->bytes;
  return response;
}

}  // namespace holdfast::http
