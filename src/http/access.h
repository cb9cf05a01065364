// Who may ask: the token, the Host that a request must carry, and the origins of pages.
//
// Without a token the server is for this machine alone, and a browser on it is not: any page it
// shows could send requests here. So then a request must carry a Host of this machine (a foreign
// name that was pointed at 127.0.0.1 does not pass), and a page's origin must be of this machine or
// allowed by name. With a token, pages of all origins may ask: they need the token.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "http/request.h"
#include "http/response.h"
#include "http/server.h"

namespace holdfast::http {

class Access {
 public:
  explicit Access(const ServerOptions& options) : options_{options} {}

  /// The refusal, if there is one: 401, 403 or 421. Needs only the head of the request.
  [[nodiscard]] std::optional<Response> refuse(const Request& request) const;
  /// The value of Access-Control-Allow-Origin for a request; empty: none is sent.
  [[nodiscard]] std::string allowed_origin(const Request& request) const;

 private:
  [[nodiscard]] bool host_allowed(const Request& request) const;
  [[nodiscard]] bool token_given(const Request& request) const;

  const ServerOptions& options_;
};

/// Equal, in a time that depends on the lengths alone.
[[nodiscard]] bool equals_in_constant_time(std::string_view a, std::string_view b);

}  // namespace holdfast::http
