// As little of an HTTP client as measuring a server needs: one keep-alive connection for requests,
// and a crowd of connections that wait for events.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::bench {

/// A program started with arguments; asked to stop (SIGTERM) and waited for at the end.
class ServerProcess {
 public:
  explicit ServerProcess(const std::vector<std::string>& command);
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;
  ~ServerProcess();
  [[nodiscard]] int pid() const { return pid_; }

 private:
  int pid_ = -1;
};

/// A port of the loopback interface that was free a moment ago.
[[nodiscard]] std::uint16_t free_port();
/// Connects, trying for a while if nobody listens yet.
[[nodiscard]] int connect_loopback(std::uint16_t port);
/// Lets this process, and those that it starts, open as many files as it may.
void raise_file_limit();

struct Reply {
  int status = 0;
  std::string body;
};

/// One connection, one request at a time.
class HttpConnection {
 public:
  explicit HttpConnection(std::uint16_t port) : socket_{connect_loopback(port)} {}
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;
  ~HttpConnection();
  /// Sends a request and reads the whole answer. `headers` are whole lines, each with its "\r\n".
  Reply request(std::string_view method, std::string_view target, std::string_view headers = {},
                std::string_view body = {});
  /// Sends a request only; `receive` reads its answer.
  void send(std::string_view method, std::string_view target, std::string_view headers,
            std::string_view body) const;
  Reply receive();

 private:
  /// Reads until `buffer_` holds so many bytes.
  void fill(std::size_t bytes);
  std::string read_line();
  std::string read_bytes(std::size_t bytes);

  int socket_;
  std::string buffer_;
};

/// Many connections that have sent the same request and wait.
class Crowd {
 public:
  Crowd(std::uint16_t port, std::size_t connections, std::string_view target);
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;
  ~Crowd();
  /// Returns when every connection has received `text` since the last call; gives up after a
  /// minute.
  void wait_until_all_have(std::string_view text);

 private:
  struct Member {
    int socket = -1;
    std::string last;  // the end of what came before, in case `text` is cut in two
    bool has = false;
  };
  int poll_;
  std::vector<Member> members_;
};

}  // namespace holdfast::bench
