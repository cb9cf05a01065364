// The server: listens, answers, follows, stops cleanly. docs/server.md and docs/http.md tell users.
//
// One loop thread owns all connections; work that may block runs in a bounded pool and posts back.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <holdfast/clock.h>
#include <holdfast/result.h>
#include <holdfast/store.h>
#include <holdfast/stream.h>

namespace holdfast::http {

struct ServerOptions {
  /// Where to listen: numeric, or "localhost". Anything but loopback demands a token.
  std::string address = "127.0.0.1";
  /// 0 takes a free one.
  std::uint16_t port = 4437;
  /// Demanded as `Authorization: Bearer TOKEN`. Empty: none is.
  std::string token{};
  /// Origins of other pages that may use the server; "*" for all. Empty: pages of this machine
  /// where no token is demanded, any where one is.
  std::vector<std::string> cors_origins{};
  /// Host names, beside those of this machine, that requests may carry where no token is demanded.
  std::vector<std::string> allow_hosts{};

  std::chrono::milliseconds long_poll_wait{20'000};
  /// How often a silent event stream gets a comment.
  std::chrono::milliseconds heartbeat{14'000};
  std::chrono::milliseconds idle_timeout{60'000};    ///< between two requests
  std::chrono::milliseconds header_timeout{10'000};  ///< from first byte to the end of the head
  std::chrono::milliseconds body_timeout{30'000};    ///< without a byte of the body
  std::chrono::milliseconds write_timeout{60'000};   ///< without a byte taken by the peer
  std::chrono::milliseconds stop_timeout{5'000};     ///< then what is left is cut off

  std::size_t connections_max = 20'000;
  std::size_t header_bytes_max = 32u << 10;
  std::size_t body_bytes_max = 64u << 20;
  /// All request bodies in memory at once; beyond it: 503.
  std::size_t body_memory_bytes_max = 256u << 20;
  /// What may wait unsent for one follower; beyond it the follower reads by range again.
  std::size_t follower_queue_bytes_max = 256u << 10;
  /// At most so much in one answer of a read.
  std::size_t read_bytes_max = 1u << 20;
  std::size_t workers = 4;
  /// Requests that may wait for a worker; beyond it: 503. A connection has one at most.
  std::size_t worker_queue_max = 16'384;
  /// Where lines of the access log go; -1: nowhere.
  int access_log_fd = -1;
  const Clock* clock = &system_clock();
};

/// Open at an address; serves while run() runs. The store and the streams must outlive it.
class Server {
 public:
  /// Listens. Errors: `kInvalidArgument` (no address; an address that others reach without a
  /// token), `kIo`.
  [[nodiscard]] static Result<std::unique_ptr<Server>> open(const ServerOptions& options,
                                                            Store& store, Streams& streams);
  ~Server();

  [[nodiscard]] std::uint16_t port() const;
  /// "http://127.0.0.1:4437"
  [[nodiscard]] std::string url() const;

  /// From now on SIGINT and SIGTERM stop it cleanly, also one that comes before run(); a second one
  /// at once. Call it before anybody is told that the server is there.
  void stop_on_signals();
  /// Serves until stopped.
  void run();
  /// Stops cleanly: no new connections; requests under way are answered, long-polls at once;
  /// followers get a goodbye and the end. From any thread; returns at once.
  void stop();

  struct Impl;

 private:
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Opens and runs a server until a signal stops it; `on_ready` is given its address once it
/// listens.
[[nodiscard]] Result<void> run_server(const ServerOptions& options, Store& store, Streams& streams,
                                      const std::function<void(const Server&)>& on_ready);

}  // namespace holdfast::http
