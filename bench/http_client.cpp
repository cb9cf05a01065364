#include "http_client.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>

#include "harness.h"

namespace holdfast::bench {
namespace {

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

void send_all(int socket, std::string_view text) {
  while (!text.empty()) {
    const auto sent = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent <= 0) give_up("the server closed a connection");
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
}

}  // namespace

ServerProcess::ServerProcess(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const auto& part : command) arguments.push_back(const_cast<char*>(part.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files{};
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  if (posix_spawnp(&pid_, arguments[0], &files, nullptr, arguments.data(), environ) != 0) {
    give_up("cannot start " + command.front());
  }
  posix_spawn_file_actions_destroy(&files);
}

ServerProcess::~ServerProcess() {
  kill(pid_, SIGTERM);
  waitpid(pid_, nullptr, 0);
}

std::uint16_t free_port() {
  const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  auto address = loopback(0);
  socklen_t size = sizeof address;
  if (bind(probe, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      getsockname(probe, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    give_up("no free port");
  }
  close(probe);
  return ntohs(address.sin_port);
}

int connect_loopback(std::uint16_t port) {
  const auto address = loopback(port);
  for (int tries = 0; tries < 600; ++tries) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket < 0) give_up("too many open files");
    if (connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
      const int on = 1;
      setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      return socket;
    }
    close(socket);
    usleep(50'000);
  }
  give_up("nobody listens on port " + std::to_string(port));
}

void raise_file_limit() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

HttpConnection::~HttpConnection() { close(socket_); }

void HttpConnection::send(std::string_view method, std::string_view target,
                          std::string_view headers, std::string_view body) const {
  std::string text;
  text.append(method).append(" ").append(target).append(" HTTP/1.1\r\nHost: 127.0.0.1\r\n");
  text.append(headers);
  if (!body.empty() || method == "POST" || method == "PUT") {
    text.append("Content-Length: ").append(std::to_string(body.size())).append("\r\n");
  }
  text.append("\r\n").append(body);
  send_all(socket_, text);
}

void HttpConnection::fill(std::size_t bytes) {
  std::array<char, 65'536> part{};
  while (buffer_.size() < bytes) {
    const auto got = recv(socket_, part.data(), part.size(), 0);
    if (got <= 0) give_up("the server closed a connection in the middle of an answer");
    buffer_.append(part.data(), static_cast<std::size_t>(got));
  }
}

std::string HttpConnection::read_bytes(std::size_t bytes) {
  fill(bytes);
  std::string taken = buffer_.substr(0, bytes);
  buffer_.erase(0, bytes);
  return taken;
}

std::string HttpConnection::read_line() {
  while (!buffer_.contains("\r\n")) fill(buffer_.size() + 1);
  auto line = read_bytes(buffer_.find("\r\n") + 2);
  line.resize(line.size() - 2);
  return line;
}

Reply HttpConnection::receive() {
  Reply reply;
  reply.status = std::stoi(read_line().substr(9));
  std::size_t length = 0;
  bool chunked = false;
  for (auto line = read_line(); !line.empty(); line = read_line()) {
    for (auto& letter : line) {
      if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    }
    if (line.starts_with("content-length:")) length = std::stoul(line.substr(15));
    if (line.starts_with("transfer-encoding:") && line.contains("chunked")) chunked = true;
  }
  if (!chunked) {
    reply.body = read_bytes(length);
    return reply;
  }
  while (true) {
    const auto size = std::stoul(read_line(), nullptr, 16);
    reply.body += read_bytes(size);
    read_line();
    if (size == 0) return reply;
  }
}

Reply HttpConnection::request(std::string_view method, std::string_view target,
                              std::string_view headers, std::string_view body) {
  send(method, target, headers, body);
  return receive();
}

Crowd::Crowd(std::uint16_t port, std::size_t connections, std::string_view target)
    : poll_{epoll_create1(EPOLL_CLOEXEC)}, members_(connections) {
  std::string request;
  request.append("GET ").append(target).append(
      " HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n");
  for (std::size_t i = 0; i < connections; ++i) {
    members_[i].socket = connect_loopback(port);
    epoll_event event{.events = EPOLLIN, .data = {.u64 = i}};
    epoll_ctl(poll_, EPOLL_CTL_ADD, members_[i].socket, &event);
    send_all(members_[i].socket, request);
  }
}

Crowd::~Crowd() {
  for (const auto& member : members_) close(member.socket);
  close(poll_);
}

void Crowd::wait_until_all_have(std::string_view text) {
  std::array<epoll_event, 512> events{};
  std::array<char, 65'536> part{};
  std::size_t missing = members_.size();
  for (auto& member : members_) member.has = false;
  while (missing > 0) {
    const int ready = epoll_wait(poll_, events.data(), static_cast<int>(events.size()), 60'000);
    if (ready <= 0) give_up(std::to_string(missing) + " followers wait in vain");
    for (int i = 0; i < ready; ++i) {
      auto& member = members_[events[static_cast<std::size_t>(i)].data.u64];
      const auto got = recv(member.socket, part.data(), part.size(), 0);
      if (got <= 0) give_up("the server closed a follower's connection: " + member.last);
      member.last.append(part.data(), static_cast<std::size_t>(got));
      if (!member.has && member.last.contains(text)) {
        member.has = true;
        --missing;
        member.last.clear();
      }
      constexpr std::size_t kKept = 256;
      if (member.last.size() > kKept) member.last.erase(0, member.last.size() - kKept);
    }
  }
}

}  // namespace holdfast::bench
