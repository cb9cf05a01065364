// A client for tests: a blocking socket that sends bytes as they are given and reads answers, so
// that malformed requests can be sent, too.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <holdfast/stream.h>

#include "http/server.h"

namespace holdfast::http_testing {

struct Answer {
  int status = 0;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  bool complete = false;  // the body ended as its framing says

  [[nodiscard]] std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }
};

struct Event {
  std::string name = "message";
  std::string id;
  std::string data;
  bool comment = false;  // nothing but a comment
};

class Client {
 public:
  /// `receive_bytes`, if not 0, bounds what the kernel keeps for this side.
  explicit Client(std::uint16_t port, int receive_bytes = 0);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void send(std::string_view bytes);
  /// Sends a request with Host and Content-Length, and the headers given as "Name: value\r\n".
  void request(std::string_view method, std::string_view target, std::string_view headers = {},
               std::string_view body = {});
  /// Reads one answer; HEAD answers have no body. Status 0: the connection ended.
  Answer answer(bool head = false);
  Answer ask(std::string_view method, std::string_view target, std::string_view headers = {},
             std::string_view body = {});

  /// After a request for events: reads the answer's head, then events one by one.
  Answer events_head();
  /// The next event; nothing at the end of the answer, or when it breaks off (see `clean_end`).
  std::optional<Event> event();
  /// The next event that is no comment.
  std::optional<Event> next();
  [[nodiscard]] bool clean_end() const { return clean_end_; }

  /// Whether the server has closed the connection, waiting for it a while.
  bool closed();
  void shutdown_write();
  [[nodiscard]] int fd() const { return fd_; }

 private:
  bool fill();
  std::optional<std::string> line();
  std::optional<std::string> exactly(std::size_t size);
  Answer head();

  int fd_ = -1;
  std::string buffer_;
  std::size_t scanned_ = 0;  // of events_: holds no end of an event
  std::string events_;       // decoded from HTTP chunks, not yet taken
  bool chunked_ = false;
  bool clean_end_ = false;
};

/// A server over a memory store, on a thread of its own.
class Running {
 public:
  explicit Running(http::ServerOptions options = {});
  ~Running();

  [[nodiscard]] std::uint16_t port() const { return server->port(); }
  Answer ask(std::string_view method, std::string_view target, std::string_view headers = {},
             std::string_view body = {});
  /// A figure of /metrics.
  std::uint64_t metric(std::string_view name);
  /// Waits until a figure of /metrics is `value`; false if it does not come to that.
  bool metric_becomes(std::string_view name, std::uint64_t value);
  Stream make(std::string_view name, std::string_view content_type = "text/plain");
  void stop();
  /// Waits until run() has returned.
  void join();

  std::unique_ptr<Store> store = make_memory_store();
  Streams streams{*store};
  std::unique_ptr<http::Server> server;

 private:
  std::thread thread_;
};

}  // namespace holdfast::http_testing
