#include "rt/tcp.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include <fmt/format.h>

namespace holdfast::rt {
namespace {

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
  bool loopback = false;
};

std::optional<Address> parse_address(const std::string& text, std::uint16_t port) {
  const std::string numeric = text == "localhost" ? "127.0.0.1" : text;
  Address address;
  sockaddr_in v4{};
  if (::inet_pton(AF_INET, numeric.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    address.loopback = (ntohl(v4.sin_addr.s_addr) >> 24) == 127;
    std::memcpy(&address.storage, &v4, sizeof v4);
    address.size = sizeof v4;
    return address;
  }
  sockaddr_in6 v6{};
  if (::inet_pton(AF_INET6, numeric.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    address.loopback = IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
    std::memcpy(&address.storage, &v6, sizeof v6);
    address.size = sizeof v6;
    return address;
  }
  return std::nullopt;
}

std::unexpected<Error> refused(int fd, const std::string& address, std::uint16_t port) {
  const int error = errno;
  if (fd >= 0) ::close(fd);
  return fail(ErrorCode::kIo,
              fmt::format("cannot listen on {} port {}: {}. Choose another address or port (port 0 "
                          "takes a free one).",
                          address, port, std::strerror(error)));
}

}  // namespace

bool is_loopback(const std::string& address) {
  const auto parsed = parse_address(address, 0);
  return parsed && parsed->loopback;
}

Result<Listening> listen_tcp(const std::string& address, std::uint16_t port) {
  auto parsed = parse_address(address, port);
  if (!parsed) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is not an address to listen on: give a numeric IPv4 or IPv6 "
                            "address, or localhost",
                            address));
  }
  const int fd =
      ::socket(parsed->storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
  if (fd < 0) return refused(fd, address, port);
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  // Accepted sockets inherit it: small frames must not wait for acknowledgements.
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&parsed->storage), parsed->size) != 0 ||
      ::listen(fd, 4'096) != 0 ||
      ::getsockname(fd, reinterpret_cast<sockaddr*>(&parsed->storage), &parsed->size) != 0) {
    return refused(fd, address, port);
  }
  Listening listening{.fd = fd, .address = address, .loopback = parsed->loopback};
  if (parsed->storage.ss_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &parsed->storage, sizeof v4);
    listening.port = ntohs(v4.sin_port);
  } else {
    sockaddr_in6 v6{};
    std::memcpy(&v6, &parsed->storage, sizeof v6);
    listening.port = ntohs(v6.sin6_port);
  }
  return listening;
}

bool connect_tcp(int fd, std::uint16_t port) {
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return ::connect(fd, reinterpret_cast<const sockaddr*>(&v4), sizeof v4) == 0;
}

std::uint64_t raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  if (limit.rlim_cur < limit.rlim_max) {
    rlimit raised = limit;
    raised.rlim_cur = limit.rlim_max;
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  return limit.rlim_cur;
}

}  // namespace holdfast::rt
