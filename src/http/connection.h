// One connection: reads a request, has it answered, reads the next.
//
//   reading -> handling -> writing -> reading ...          keep-alive
//                 |           `-----> lingering -> closed  the last answer
//                 `-> handed over                          to a follower, which owns the socket
//                 then
//
// Invariants
//   - One request at a time: bytes of the next stay unread, or in `pending_`, until the answer is
//     out, so that answers are in the order of requests.
//   - In every state but `handling` a deadline runs.
//   - No read buffer is kept between reads but the unused rest, which is bounded.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "http/context.h"
#include "http/request_parser.h"
#include "http/response.h"
#include "rt/loop.h"

namespace holdfast::http {

enum class HeadKind : std::uint8_t {
  kKeepAlive,   ///< the payload's length, and another request may follow
  kClose,       ///< the payload's length, then the end
  kChunked,     ///< HTTP chunks, then the end
  kUntilClose,  ///< bytes until the end, for HTTP/1.0
};
/// The status line and headers: the answer's own, those that all answers have, and those that the
/// request's origin demands (`request` may be null).
[[nodiscard]] std::string response_head(const Response& response, const Request* request,
                                        const Access& access, Timestamp now, HeadKind kind);

/// An answer that is waited for; ends with the connection. Loop thread only.
class Waiter {
 public:
  virtual ~Waiter() = default;
  /// The server is stopping: answer now.
  virtual void stop() = 0;
};

/// What goes to whoever takes the socket over, for its line in the access log.
struct HandedOver {
  rt::Socket socket;
  std::string remote;
  std::string path;
  Timestamp time{};
  rt::SteadyTime began{};
  bool http_1_0 = false;
};

class Connection final : public rt::SocketEvents,
                         public rt::Due,
                         public std::enable_shared_from_this<Connection> {
 public:
  /// Answers requests, at once or later, through respond(), wait() or hand_over().
  struct Handler {
    virtual ~Handler() = default;
    virtual void handle(const std::shared_ptr<Connection>& connection) = 0;
    /// The connection has no socket any more; the handler lets go of it.
    virtual void forget(Connection& connection) = 0;
  };

  Connection(Context& context, Handler& handler, rt::Socket socket, std::string remote);
  ~Connection() override;

  void start();
  /// The request that is being handled. Workers may read it until it is answered.
  [[nodiscard]] Request& request() { return parser_.request(); }

  /// Answers the request. Does nothing if the client has gone.
  void respond(Response response);
  /// Keeps the request open; watches for the client's leaving.
  void wait(std::unique_ptr<Waiter> waiter);
  /// Whether an answer can still be given.
  [[nodiscard]] bool awaits_answer() const { return stage_ == Stage::kHandling; }
  /// Gives the socket away; this connection is over.
  [[nodiscard]] HandedOver hand_over();
  /// Names the request for metrics.
  void set_route(std::string_view route) { route_ = route; }

  /// The server is stopping: closes when idle, or after the answer that is due.
  void stop();
  void close();

  void readable() override;
  void writable() override;
  void due() override;

 private:
  enum class Stage : std::uint8_t { kReading, kHandling, kWriting, kLingering, kClosed };

  void read_some();
  void take(std::string_view bytes);
  void look_at_request();
  bool began_body();
  void account_body();
  void flush();
  void answered();
  void linger();
  void drop_rest();

  Context& context_;
  Handler& handler_;
  rt::Socket socket_;
  RequestParser parser_;
  std::string remote_;
  std::string pending_;  // read, not yet used
  std::string head_;     // of the answer
  Response response_;
  std::size_t written_ = 0;
  std::unique_ptr<Waiter> waiter_;
  std::string_view route_ = "other";
  rt::SteadyTime began_{};
  std::uint64_t body_counted_ = 0;
  Stage stage_ = Stage::kReading;
  bool head_seen_ = false;  // the request's head was looked at
  bool in_request_ = false;
  bool close_after_ = false;
  bool live_ = false;  // the answer was waited for: its time says nothing
};

}  // namespace holdfast::http
