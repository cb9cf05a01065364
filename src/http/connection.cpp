#include "http/connection.h"

#include <array>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include <holdfast/check.h>

namespace holdfast::http {

using Kind = rt::IoResult::Kind;

namespace {

RequestLimits limits_of(const ServerOptions& options) {
  return {.header_bytes_max = options.header_bytes_max, .body_bytes_max = options.body_bytes_max};
}

constexpr std::string_view kExposed =
    "Stream-Next-Offset, Stream-Cursor, Stream-Up-To-Date, Stream-Closed, Stream-TTL, "
    "Stream-Expires-At, Stream-SSE-Data-Encoding, Producer-Epoch, Producer-Seq, "
    "Producer-Expected-Seq, Producer-Received-Seq, ETag, Location, Retry-After";

constexpr std::string_view kLineEnds{"\r\n\0", 3};

bool has_body(int status) { return status != 204 && status != 304 && status >= 200; }

}  // namespace

std::string response_head(const Response& response, const Request* request, const Access& access,
                          Timestamp now, HeadKind kind) {
  std::string head = fmt::format("HTTP/1.1 {} {}\r\nDate: {}\r\n", response.status,
                                 reason_phrase(response.status), http_date(now));
  const auto out = std::back_inserter(head);
  for (const auto& [name, value] : response.headers) {
    // What was stored through another door (a content type) must not end its line here.
    if (value.find_first_of(kLineEnds) != std::string::npos) continue;
    fmt::format_to(out, "{}: {}\r\n", name, value);
  }
  head += "X-Content-Type-Options: nosniff\r\n";
  if (request != nullptr) {
    const std::string origin = access.allowed_origin(*request);
    head += origin == "*" ? "Cross-Origin-Resource-Policy: cross-origin\r\n"
                          : "Cross-Origin-Resource-Policy: same-site\r\n";
    if (!origin.empty()) {
      fmt::format_to(out,
                     "Access-Control-Allow-Origin: {}\r\nAccess-Control-Expose-Headers: {}\r\n",
                     origin, kExposed);
    }
    if (request->header("Origin")) head += "Vary: Origin\r\n";
  }
  if (kind == HeadKind::kChunked) {
    head += "Transfer-Encoding: chunked\r\n";
  } else if (kind != HeadKind::kUntilClose && has_body(response.status)) {
    fmt::format_to(out, "Content-Length: {}\r\n", response.payload().size());
  }
  head +=
      kind == HeadKind::kKeepAlive ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
  return head;
}

Connection::Connection(Context& context, Handler& handler, rt::Socket socket, std::string remote)
    : context_{context},
      handler_{handler},
      socket_{std::move(socket)},
      parser_{limits_of(context.options)},
      remote_{std::move(remote)} {
  ++context_.metrics.connections;
}

Connection::~Connection() {
  account_body();
  if (socket_) --context_.metrics.connections;
}

void Connection::start() {
  socket_.set_events(this);
  context_.idle.add(*this);
  read_some();
}

void Connection::readable() {
  if (stage_ == Stage::kReading) return read_some();
  if (stage_ == Stage::kLingering) return drop_rest();
  if (stage_ == Stage::kHandling && waiter_) {
    // Bytes of a next request are left where they are; only the peer's end is looked for.
    const Kind kind = socket_.peek().kind;
    if (kind == Kind::kWouldBlock) return socket_.wait_readable();
    if (kind != Kind::kDone) close();
  }
}

void Connection::writable() {
  if (stage_ == Stage::kWriting) flush();
}

void Connection::due() {
  if (stage_ == Stage::kReading && in_request_) {
    close_after_ = true;
    stage_ = Stage::kHandling;
    return respond(error_response(
        408, Error{ErrorCode::kTimeout, "the request did not arrive in time; send it again"}));
  }
  close();
}

void Connection::read_some() {
  for (int rounds = 0; rounds < 16 && stage_ == Stage::kReading; ++rounds) {
    const rt::IoResult got = socket_.read(context_.scratch.data(), context_.scratch.size());
    if (got.kind == Kind::kWouldBlock) break;
    if (got.kind != Kind::kDone) return close();
    take({context_.scratch.data(), got.bytes});
  }
  if (stage_ == Stage::kReading) socket_.wait_readable();
}

void Connection::take(std::string_view bytes) {
  if (!in_request_) {
    in_request_ = true;
    began_ = rt::Loop::now();
    context_.header.add(*this);
  }
  const auto before = parser_.state();
  if (pending_.empty()) {
    const std::size_t used = parser_.feed(bytes);
    pending_.assign(bytes.substr(used));
  } else {
    pending_.append(bytes);
    pending_.erase(0, parser_.feed(pending_));
  }
  if (pending_.empty() && pending_.capacity() > 4'096) std::string{}.swap(pending_);
  if (before == RequestParser::State::kBody) context_.body.add(*this);
  look_at_request();
}

void Connection::look_at_request() {
  using State = RequestParser::State;
  account_body();
  if (parser_.state() == State::kFailed) {
    close_after_ = true;
    stage_ = Stage::kHandling;
    const ErrorCode code =
        parser_.status() == 413 ? ErrorCode::kTooLarge : ErrorCode::kInvalidArgument;
    Error error{code, parser_.problem()};
    if (parser_.status() == 413) error.expected = context_.options.body_bytes_max;
    return respond(error_response(parser_.status(), error));
  }
  if (parser_.state() == State::kHead) return;
  if (!std::exchange(head_seen_, true) && !began_body()) return;
  if (context_.metrics.body_bytes > context_.options.body_memory_bytes_max) {
    close_after_ = true;
    stage_ = Stage::kHandling;
    return respond(error_response(Error{
        ErrorCode::kUnavailable, "too many bytes of requests are under way; try again shortly"}));
  }
  if (parser_.state() == State::kBody) {
    // What a client can leave unused in the middle of a body is the head of an HTTP chunk.
    if (pending_.size() > context_.options.header_bytes_max) close();
    return;
  }
  stage_ = Stage::kHandling;
  rt::Deadlines::remove(*this);
  handler_.handle(shared_from_this());
}

// The head is there: what it shows to be refused is refused before the body is read, and then it
// gives false.
bool Connection::began_body() {
  const bool whole = parser_.state() == RequestParser::State::kDone;
  if (auto refusal = context_.access.refuse(request())) {
    if (!whole) close_after_ = true;
    stage_ = Stage::kHandling;
    respond(std::move(*refusal));
    return false;
  }
  if (whole) return true;
  context_.body.add(*this);
  if (request().expects_continue) {
    const std::array<std::string_view, 1> go_on{"HTTP/1.1 100 Continue\r\n\r\n"};
    socket_.write(go_on);
  }
  return true;
}

void Connection::account_body() {
  const std::uint64_t now = head_seen_ && parser_.state() != RequestParser::State::kFailed &&
                                    stage_ != Stage::kClosed && stage_ != Stage::kWriting
                                ? request().body.size()
                                : 0;
  context_.metrics.body_bytes += now - body_counted_;
  body_counted_ = now;
}

void Connection::respond(Response response) {
  if (stage_ != Stage::kHandling) return;
  stage_ = Stage::kWriting;
  account_body();
  waiter_.reset();
  const bool has_request = head_seen_ && parser_.state() != RequestParser::State::kFailed;
  const Request* request = has_request ? &this->request() : nullptr;
  if (response.close || context_.stopping || request == nullptr || !request->keep_alive) {
    close_after_ = true;
  }
  response_ = std::move(response);
  head_ = response_head(response_, request, context_.access, context_.clock.now(),
                        close_after_ ? HeadKind::kClose : HeadKind::kKeepAlive);
  if (!has_body(response_.status) || (request != nullptr && request->method == Method::kHead)) {
    response_.body.clear();
    response_.lasting_body = {};
  }
  written_ = 0;
  context_.write.add(*this);
  flush();
}

void Connection::flush() {
  const std::string_view payload = response_.payload();
  while (written_ < head_.size() + payload.size()) {
    const std::size_t of_head = std::min(written_, head_.size());
    const std::array<std::string_view, 2> pieces{std::string_view{head_}.substr(of_head),
                                                 payload.substr(written_ - of_head)};
    const rt::IoResult got = socket_.write(pieces);
    if (got.kind == Kind::kWouldBlock) return socket_.wait_writable();
    if (got.kind != Kind::kDone) return close();
    written_ += got.bytes;
    context_.write.add(*this);
  }
  answered();
}

void Connection::answered() {
  const bool has_request = head_seen_ && parser_.state() != RequestParser::State::kFailed;
  const std::string_view method =
      has_request ? std::string_view{request().method_name} : std::string_view{"-"};
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(rt::Loop::now() - began_);
  const bool known = has_request && request().method != Method::kOther;
  context_.metrics.count(has_request ? route_ : "invalid", known ? method : "other",
                         response_.status, live_ ? -1 : static_cast<double>(took.count()) / 1e6);
  if (context_.log.enabled()) {
    context_.log.add({.time = context_.clock.now(),
                      .method = method,
                      .path = has_request ? std::string_view{request().path} : std::string_view{},
                      .status = response_.status,
                      .bytes = response_.payload().size(),
                      .duration_us = took.count(),
                      .remote = remote_});
  }
  response_ = Response{};
  head_.clear();
  if (close_after_) return linger();
  parser_.reset();
  head_seen_ = false;
  in_request_ = false;
  live_ = false;
  route_ = "other";
  stage_ = Stage::kReading;
  context_.idle.add(*this);
  if (pending_.empty()) return socket_.wait_readable();
  // The next request is here already. It is taken from the loop, not from within this one.
  context_.loop.post([self = shared_from_this()] {
    if (self->stage_ != Stage::kReading) return;
    self->take({});
    if (self->stage_ == Stage::kReading) self->socket_.wait_readable();
  });
}

void Connection::wait(std::unique_ptr<Waiter> waiter) {
  HOLDFAST_CHECK(stage_ == Stage::kHandling, "only a request that is being handled can wait");
  live_ = true;
  waiter_ = std::move(waiter);
  socket_.wait_readable();
}

HandedOver Connection::hand_over() {
  HOLDFAST_CHECK(stage_ == Stage::kHandling, "only a request that is being handled has a socket");
  HandedOver given{.socket = std::move(socket_),
                   .remote = std::move(remote_),
                   .path = std::move(request().path),
                   .time = context_.clock.now(),
                   .began = began_,
                   .http_1_0 = request().http_1_0};
  given.socket.set_events(nullptr);
  socket_ = rt::Socket{};
  stage_ = Stage::kClosed;
  account_body();
  handler_.forget(*this);
  return given;
}

// Closing at once with bytes unread would make the kernel reset the connection, and the peer might
// never see the answer: so the peer's end is awaited for a moment.
void Connection::linger() {
  stage_ = Stage::kLingering;
  socket_.shutdown_write();
  context_.linger.add(*this);
  drop_rest();
}

void Connection::drop_rest() {
  for (int rounds = 0; rounds < 16; ++rounds) {
    const rt::IoResult got = socket_.read(context_.scratch.data(), context_.scratch.size());
    if (got.kind == Kind::kWouldBlock) return socket_.wait_readable();
    if (got.kind != Kind::kDone) return close();
  }
  socket_.wait_readable();
}

void Connection::stop() {
  close_after_ = true;
  if (waiter_) return waiter_->stop();
  if (stage_ == Stage::kReading && !in_request_) linger();
}

void Connection::close() {
  if (stage_ == Stage::kClosed) return;
  const auto self = shared_from_this();
  stage_ = Stage::kClosed;
  account_body();
  waiter_.reset();
  rt::Deadlines::remove(*this);
  socket_.close();
  --context_.metrics.connections;
  handler_.forget(*this);
}

}  // namespace holdfast::http
