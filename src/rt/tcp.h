// Opening TCP sockets: where a server listens.
#pragma once

#include <cstdint>
#include <string>

#include <holdfast/result.h>

namespace holdfast::rt {

struct Listening {
  int fd = -1;             ///< to be owned by the caller
  std::string address;     ///< as bound: "127.0.0.1"
  std::uint16_t port = 0;  ///< as bound: the one picked if 0 was asked for
  bool loopback = false;   ///< only this machine can reach it
};

/// Listens at a numeric IPv4 or IPv6 address, or "localhost". Errors: `kInvalidArgument` (not an
/// address), `kIo` (in use, not ours), naming both.
[[nodiscard]] Result<Listening> listen_tcp(const std::string& address, std::uint16_t port);

/// Whether a numeric address, or "localhost", can be reached only from this machine.
[[nodiscard]] bool is_loopback(const std::string& address);

/// Connects `fd`, a TCP socket, to a port of 127.0.0.1; waits until it is.
[[nodiscard]] bool connect_tcp(int fd, std::uint16_t port);

/// Raises the soft limit of open descriptors to the hard one; returns the limit that holds now.
std::uint64_t raise_descriptor_limit();

}  // namespace holdfast::rt
