#include "http/access.h"

#include <algorithm>

#include <fmt/format.h>

#include "rt/tcp.h"

namespace holdfast::http {
namespace {

// "localhost:80" -> "localhost", "[::1]:80" -> "::1".
std::string_view host_name(std::string_view host) {
  if (host.starts_with('[')) return host.substr(1, host.find(']') - 1);
  return host.substr(0, host.find(':'));
}

bool is_this_machine(std::string_view name) {
  return equals_ignoring_case(name, "localhost") ||
         (name.size() > 10 && equals_ignoring_case(name.substr(name.size() - 10), ".localhost")) ||
         rt::is_loopback(std::string{name});
}

std::string_view host_of_origin(std::string_view origin) {
  const std::size_t scheme = origin.find("://");
  return scheme == std::string_view::npos ? std::string_view{} : origin.substr(scheme + 3);
}

// What anybody may read: it holds no data of the store.
bool is_public(const Request& request) {
  return request.path == "/" || request.path == "/healthz" || request.path.starts_with("/assets/");
}

// An EventSource of a browser cannot send headers; this is its only way to bring a token. It is
// taken for event streams alone, so that no other address with a token in it is ever worth keeping.
std::optional<std::string> token_of_query(const Request& request) {
  if (request.method != Method::kGet) return std::nullopt;
  const auto query = Query::parse(request.query);
  if (!query) return std::nullopt;
  const auto live = query->get("live");
  if (live != "events" && live != "sse") return std::nullopt;
  const auto token = query->get("token");
  if (!token) return std::nullopt;
  return std::string{*token};
}

}  // namespace

bool equals_in_constant_time(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned different = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    different |= static_cast<unsigned>(static_cast<unsigned char>(a[i])) ^
                 static_cast<unsigned>(static_cast<unsigned char>(b[i]));
  }
  return different == 0;
}

bool Access::host_allowed(const Request& request) const {
  if (!options_.token.empty()) return true;
  const auto host = request.header("Host");
  if (!host) return request.http_1_0;
  const std::string_view name = host_name(*host);
  return is_this_machine(name) ||
         std::ranges::any_of(options_.allow_hosts, [name](const std::string& allowed) {
           return equals_ignoring_case(allowed, name);
         });
}

bool Access::token_given(const Request& request) const {
  if (const auto header = request.header("Authorization")) {
    constexpr std::string_view kScheme = "Bearer ";
    return header->size() > kScheme.size() &&
           equals_ignoring_case(header->substr(0, kScheme.size()), kScheme) &&
           equals_in_constant_time(trimmed(header->substr(kScheme.size())), options_.token);
  }
  const auto token = token_of_query(request);
  return token && equals_in_constant_time(*token, options_.token);
}

std::string Access::allowed_origin(const Request& request) const {
  const auto origin = request.header("Origin");
  if (!origin) return {};
  const auto& allowed = options_.cors_origins;
  if (std::ranges::find(allowed, "*") != allowed.end()) return "*";
  if (std::ranges::find(allowed, *origin) != allowed.end()) return std::string{*origin};
  const std::string_view host = host_of_origin(*origin);
  if (!host.empty() && host == request.header("Host")) return std::string{*origin};
  if (!allowed.empty()) return {};
  if (!options_.token.empty()) return "*";
  return is_this_machine(host_name(host)) ? std::string{*origin} : std::string{};
}

std::optional<Response> Access::refuse(const Request& request) const {
  if (!host_allowed(request)) {
    return error_response(
        421, Error{ErrorCode::kInvalidArgument,
                   fmt::format("this server answers only for the names of its own machine, not for "
                               "'{}'. Ask for 127.0.0.1 or localhost, or start it with "
                               "--allow-host NAME.",
                               request.header("Host").value_or(""))});
  }
  if (request.method == Method::kOptions) return std::nullopt;
  if (request.header("Origin") && allowed_origin(request).empty()) {
    return error_response(
        403, Error{ErrorCode::kUnauthorized,
                   fmt::format("pages of {} may not use this server. Start it with --cors-origin "
                               "ORIGIN to allow them.",
                               *request.header("Origin"))});
  }
  if (options_.token.empty() || is_public(request) || token_given(request)) return std::nullopt;
  Response response =
      error_response(Error{ErrorCode::kUnauthorized,
                           request.header("Authorization")
                               ? "the token is not the server's. Send the right one as "
                                 "'Authorization: Bearer TOKEN'."
                               : "a token is demanded. Send it as 'Authorization: Bearer TOKEN'."});
  response.set("WWW-Authenticate", "Bearer realm=\"holdfast\"");
  return response;
}

}  // namespace holdfast::http
