#include "http/http_client.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rt/tcp.h"

namespace holdfast::http_testing {

Client::Client(std::uint16_t port, int receive_bytes)
    : fd_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
  // A server that does not answer must fail a test, not hang it.
  const timeval patience{.tv_sec = 10, .tv_usec = 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  if (receive_bytes > 0) {
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
  }
  EXPECT_TRUE(rt::connect_tcp(fd_, port));
}

Client::~Client() { ::close(fd_); }

void Client::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void Client::request(std::string_view method, std::string_view target, std::string_view headers,
                     std::string_view body) {
  std::string bytes =
      fmt::format("{} {} HTTP/1.1\r\nHost: 127.0.0.1\r\n{}", method, target, headers);
  if (!body.empty() || method == "POST" || method == "PUT") {
    bytes += fmt::format("Content-Length: {}\r\n", body.size());
  }
  bytes += "\r\n";
  bytes += body;
  send(bytes);
}

bool Client::fill() {
  std::array<char, 65'536> bytes{};
  const ssize_t got = ::recv(fd_, bytes.data(), bytes.size(), 0);
  if (got <= 0) return false;
  buffer_.append(bytes.data(), static_cast<std::size_t>(got));
  return true;
}

std::optional<std::string> Client::line() {
  std::size_t end = 0;
  while ((end = buffer_.find("\r\n")) == std::string::npos) {
    if (!fill()) return std::nullopt;
  }
  std::string text = buffer_.substr(0, end);
  buffer_.erase(0, end + 2);
  return text;
}

std::optional<std::string> Client::exactly(std::size_t size) {
  while (buffer_.size() < size) {
    if (!fill()) return std::nullopt;
  }
  std::string text = buffer_.substr(0, size);
  buffer_.erase(0, size);
  return text;
}

Answer Client::head() {
  Answer answer;
  const auto first = line();
  if (!first || !first->starts_with("HTTP/1.1 ")) return answer;
  std::from_chars(first->data() + 9, first->data() + first->size(), answer.status);
  for (auto text = line(); text && !text->empty(); text = line()) {
    const std::size_t colon = text->find(": ");
    std::string name = text->substr(0, colon);
    std::ranges::transform(name, name.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
    answer.headers[name] = text->substr(colon + 2);
  }
  return answer;
}

Answer Client::answer(bool is_head) {
  Answer answer = head();
  if (answer.status == 100) answer = head();
  const std::string length = answer.header("content-length");
  answer.complete = answer.status != 0;
  if (is_head || length.empty()) return answer;
  std::size_t size = 0;
  std::from_chars(length.data(), length.data() + length.size(), size);
  auto body = exactly(size);
  answer.complete = body.has_value();
  answer.body = body.value_or("");
  return answer;
}

Answer Client::ask(std::string_view method, std::string_view target, std::string_view headers,
                   std::string_view body) {
  request(method, target, headers, body);
  return answer(method == "HEAD");
}

Answer Client::events_head() {
  Answer answer = head();
  chunked_ = answer.header("transfer-encoding") == "chunked";
  if (answer.header("content-type") != "text/event-stream") {
    const std::string length = answer.header("content-length");
    std::size_t size = 0;
    std::from_chars(length.data(), length.data() + length.size(), size);
    answer.body = exactly(size).value_or("");
  }
  return answer;
}

std::optional<Event> Client::event() {
  for (;;) {
    const std::size_t end = events_.find("\n\n", scanned_ > 0 ? scanned_ - 1 : 0);
    scanned_ = end == std::string::npos ? events_.size() : 0;
    if (end != std::string::npos) {
      Event event;
      event.comment = true;
      std::string_view rest{events_};
      rest = rest.substr(0, end + 1);
      while (!rest.empty()) {
        const std::string_view text = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(text.size() + 1);
        if (text.starts_with(':')) continue;
        event.comment = false;
        const std::size_t colon = text.find(':');
        const std::string_view field = text.substr(0, colon);
        std::string_view value = text.substr(colon + 1);
        if (value.starts_with(' ')) value.remove_prefix(1);
        if (field == "event") event.name = value;
        if (field == "id") event.id = value;
        if (field == "retry") event.name = "retry";
        if (field == "data") event.data += (event.data.empty() ? "" : "\n") + std::string{value};
      }
      events_.erase(0, end + 2);
      return event;
    }
    if (!chunked_) {
      if (buffer_.empty() && !fill()) {
        clean_end_ = true;
        return std::nullopt;
      }
      events_ += buffer_;
      buffer_.clear();
      continue;
    }
    const auto size_text = line();
    if (!size_text) return std::nullopt;
    std::size_t size = 0;
    std::from_chars(size_text->data(), size_text->data() + size_text->size(), size, 16);
    const auto bytes = exactly(size);
    const auto blank = line();
    if (!bytes || !blank) return std::nullopt;
    if (size == 0) {
      clean_end_ = true;
      return std::nullopt;
    }
    events_ += *bytes;
  }
}

std::optional<Event> Client::next() {
  for (;;) {
    auto event = this->event();
    if (!event || (!event->comment && event->name != "retry")) return event;
  }
}

bool Client::closed() {
  while (fill()) buffer_.clear();
  char byte = 0;
  return ::recv(fd_, &byte, 1, MSG_DONTWAIT) == 0 || errno == ECONNRESET;
}

void Client::shutdown_write() { ::shutdown(fd_, SHUT_WR); }

Running::Running(http::ServerOptions options) {
  options.port = 0;
  auto opened = http::Server::open(options, *store, streams);
  EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
  server = std::move(*opened);
  thread_ = std::thread{[this] { server->run(); }};
}

Running::~Running() {
  stop();
  join();
}

void Running::stop() { server->stop(); }

void Running::join() {
  if (thread_.joinable()) thread_.join();
}

Answer Running::ask(std::string_view method, std::string_view target, std::string_view headers,
                    std::string_view body) {
  Client client{port()};
  return client.ask(method, target, headers, body);
}

std::uint64_t Running::metric(std::string_view name) {
  const Answer answer = ask("GET", "/metrics");
  const std::string text = "\n" + std::string{name} + " ";
  const std::size_t at = answer.body.find(text);
  if (at == std::string::npos) {
    ADD_FAILURE() << "there is no figure " << name;
    return 0;
  }
  std::uint64_t value = 0;
  const char* const begin = answer.body.data() + at + text.size();
  std::from_chars(begin, answer.body.data() + answer.body.size(), value);
  return value;
}

bool Running::metric_becomes(std::string_view name, std::uint64_t value) {
  for (int tries = 0; tries < 500; ++tries) {
    if (metric(name) == value) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
  return false;
}

Stream Running::make(std::string_view name, std::string_view content_type) {
  auto created = streams.create(name, {.content_type = std::string{content_type}});
  EXPECT_TRUE(created) << (created ? "" : created.error().message);
  return std::move(created->stream);
}

}  // namespace holdfast::http_testing
