#include "http/request_parser.h"

#include <algorithm>
#include <array>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include <fmt/format.h>

namespace holdfast::http {

namespace beast = boost::beast;
using boost::system::error_code;

namespace {

struct MethodName {
  std::string_view name;
  Method method;
};

constexpr std::array kMethods{
    MethodName{"GET", Method::kGet},       MethodName{"HEAD", Method::kHead},
    MethodName{"POST", Method::kPost},     MethodName{"PUT", Method::kPut},
    MethodName{"DELETE", Method::kDelete}, MethodName{"OPTIONS", Method::kOptions},
};

Method method_of(std::string_view name) {
  const auto found = std::ranges::find(kMethods, name, &MethodName::name);
  return found == kMethods.end() ? Method::kOther : found->method;
}

}  // namespace

// Collects what Beast's parser finds and makes the checks that Beast leaves open.
class RequestParser::Reader final : public beast::http::basic_parser<true> {
 public:
  explicit Reader(const RequestLimits& limits) : limits_{limits} {
    header_limit(static_cast<std::uint32_t>(limits.header_bytes_max));
    body_limit(limits.body_bytes_max);
    eager(true);
  }

  Request request;
  int status = 0;
  std::string problem;

 private:
  using Error = beast::http::error;
  using Text = beast::string_view;

  void refuse(error_code& error, int refused_with, std::string why) {
    status = refused_with;
    problem = std::move(why);
    error = Error::bad_value;
  }

  void on_request_impl(beast::http::verb, Text method, Text target, int version,
                       error_code& error) override {
    error = {};
    request.method_name = std::string{method};
    request.method = method_of(request.method_name);
    request.http_1_0 = version < 11;
    if (version != 10 && version != 11) {
      return refuse(error, 505, "only HTTP/1.0 and HTTP/1.1 are spoken here");
    }
    std::string_view rest{target.data(), target.size()};
    if (rest.starts_with("http://") || rest.starts_with("https://")) {
      const std::size_t slash = rest.find('/', rest.find("//") + 2);
      rest = slash == std::string_view::npos ? std::string_view{"/"} : rest.substr(slash);
    }
    const bool asterisk = rest == "*" && request.method == Method::kOptions;
    if (!rest.starts_with('/') && !asterisk) {
      return refuse(error, 400, "the request target must be a path that begins with '/'");
    }
    rest = rest.substr(0, rest.find('#'));
    const std::size_t mark = std::min(rest.find('?'), rest.size());
    request.path = std::string{rest.substr(0, mark)};
    request.query = std::string{rest.substr(std::min(mark + 1, rest.size()))};
  }

  void on_response_impl(int, Text, int, error_code&) override {}

  void on_field_impl(beast::http::field field, Text name, Text value, error_code& error) override {
    error = {};
    if (request.headers.size() >= limits_.headers_max) {
      return refuse(error, 431, fmt::format("more than {} header fields", limits_.headers_max));
    }
    if (field == beast::http::field::host) ++hosts_;
    if (field == beast::http::field::content_length) ++content_lengths_;
    if (field == beast::http::field::transfer_encoding) {
      ++transfer_encodings_;
      if (!equals_ignoring_case({value.data(), value.size()}, "chunked")) {
        return refuse(error, 501, "the only transfer coding known here is 'chunked'");
      }
    }
    if (field == beast::http::field::expect) {
      if (!equals_ignoring_case({value.data(), value.size()}, "100-continue")) {
        return refuse(error, 417, "the only expectation known here is '100-continue'");
      }
      request.expects_continue = !request.http_1_0;
    }
    request.headers.emplace_back(std::string{name}, std::string{value});
  }

  void on_header_impl(error_code& error) override {
    error = {};
    if (!request.http_1_0 && hosts_ != 1) {
      return refuse(error, 400, "an HTTP/1.1 request needs exactly one Host header");
    }
    if (content_lengths_ > 1 || transfer_encodings_ > 1 ||
        (content_lengths_ > 0 && transfer_encodings_ > 0) ||
        (transfer_encodings_ > 0 && request.http_1_0)) {
      return refuse(error, 400,
                    "the length of the body is ambiguous: give one Content-Length, or one "
                    "Transfer-Encoding, not both");
    }
    request.keep_alive = keep_alive();
  }

  void on_body_init_impl(boost::optional<std::uint64_t> const&, error_code& error) override {
    error = {};
  }
  std::size_t on_body_impl(Text bytes, error_code& error) override {
    error = {};
    request.body.append(bytes.data(), bytes.size());
    return bytes.size();
  }
  void on_chunk_header_impl(std::uint64_t, Text, error_code& error) override { error = {}; }
  std::size_t on_chunk_body_impl(std::uint64_t, Text bytes, error_code& error) override {
    error = {};
    if (request.body.size() + bytes.size() > limits_.body_bytes_max) {
      error = Error::body_limit;
      return 0;
    }
    request.body.append(bytes.data(), bytes.size());
    return bytes.size();
  }
  void on_finish_impl(error_code& error) override { error = {}; }

  const RequestLimits& limits_;
  std::size_t hosts_ = 0;
  std::size_t content_lengths_ = 0;
  std::size_t transfer_encodings_ = 0;
};

RequestParser::RequestParser(const RequestLimits& limits) : limits_{limits} {}
RequestParser::~RequestParser() = default;

Request& RequestParser::request() { return reader_->request; }

void RequestParser::reset() {
  reader_.reset();
  state_ = State::kHead;
  status_ = 0;
  problem_.clear();
}

void RequestParser::failed(int status, std::string problem) {
  state_ = State::kFailed;
  status_ = status;
  problem_ = std::move(problem);
}

std::size_t RequestParser::feed(std::string_view bytes) {
  using beast::http::error;
  if (!reader_) reader_ = std::make_unique<Reader>(limits_);
  std::size_t used = 0;
  while (state_ == State::kHead || state_ == State::kBody) {
    error_code code;
    const std::size_t step =
        reader_->put(boost::asio::const_buffer{bytes.data() + used, bytes.size() - used}, code);
    used += step;
    if (code == error::header_limit || (code == error::need_more && !reader_->is_header_done() &&
                                        bytes.size() - used >= limits_.header_bytes_max)) {
      failed(431, fmt::format("the request line and headers are over the limit of {} bytes",
                              limits_.header_bytes_max));
    } else if (code == error::body_limit) {
      failed(413, fmt::format("the body is over the limit of {} bytes", limits_.body_bytes_max));
    } else if (code == error::need_more || (!code && step == 0 && !reader_->is_done())) {
      if (reader_->is_header_done()) state_ = State::kBody;
      break;
    } else if (code) {
      if (reader_->status != 0) {
        failed(reader_->status, reader_->problem);
      } else {
        failed(400, fmt::format("the request is not well-formed HTTP: {}", code.message()));
      }
    } else if (reader_->is_done()) {
      state_ = State::kDone;
    } else if (reader_->is_header_done()) {
      state_ = State::kBody;
      if (used == bytes.size()) break;
    }
  }
  return used;
}

}  // namespace holdfast::http
