// Reads requests from bytes as they come, over Boost.Beast's parser, within limits.
//
// Refused, because proxies and servers read them differently: more than one Content-Length, a
// Content-Length beside a Transfer-Encoding, any Transfer-Encoding but "chunked", HTTP/1.1 without
// exactly one Host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "http/request.h"

namespace holdfast::http {

struct RequestLimits {
  std::size_t header_bytes_max = 32u << 10;
  std::size_t headers_max = 100;
  std::uint64_t body_bytes_max = 64u << 20;
};

/// Reads one request; then reset() for the next. One thread at a time.
class RequestParser {
 public:
  enum class State : std::uint8_t {
    kHead,    ///< wants more bytes of the request line and headers
    kBody,    ///< the head is there: request() has all but the body
    kDone,    ///< the request is whole
    kFailed,  ///< the connection cannot go on; see status() and problem()
  };

  explicit RequestParser(const RequestLimits& limits);
  ~RequestParser();

  /// Takes bytes from the front of `bytes` and returns how many it used; the rest must be given
  /// again, with what follows.
  std::size_t feed(std::string_view bytes);
  void reset();

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] Request& request();
  /// What to answer when it failed: 400, 413, 431, 501 or 505.
  [[nodiscard]] int status() const { return status_; }
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  class Reader;
  void failed(int status, std::string problem);

  RequestLimits limits_;
  std::unique_ptr<Reader> reader_;
  State state_ = State::kHead;
  int status_ = 0;
  std::string problem_;
};

}  // namespace holdfast::http
