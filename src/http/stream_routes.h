// `/v1/stream/{name}` and `/v1/streams`: what requests mean, as calls on streams. Nothing here
// knows sockets or the loop; all of it may block and runs on workers.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/stream.h>

#include "http/follower.h"
#include "http/long_poll.h"
#include "http/request.h"
#include "http/response.h"
#include "http/server.h"
#include "http/stream_cache.h"

namespace holdfast::http {

/// What the routes work on. Thread-safe.
struct StreamRoutes {
  Streams& streams;
  StreamCache& cache;
  const ServerOptions& options;

  /// PUT: make a stream, or a fork of one.
  [[nodiscard]] Response create(const Request& request, const std::string& name);
  /// HEAD: what the stream is, and its tail.
  [[nodiscard]] Response head(const std::string& name);
  [[nodiscard]] Response remove(const std::string& name);
  /// GET of the list.
  [[nodiscard]] Response list(const Request& request);

  /// What a GET came to: an answer, or something that goes on.
  struct Read {
    Read() = default;
    explicit Read(Response answer) : response{std::move(answer)} {}
    std::optional<Response> response{};
    std::optional<FollowStart> follow{};
    std::optional<PollStart> poll{};
  };
  [[nodiscard]] Read read(const Request& request, const std::string& name);

  struct AppendOutcome {
    AppendOutcome() = default;
    explicit AppendOutcome(Response answer) : response{std::move(answer)} {}
    Response response{};
    std::uint64_t chunks = 0;  ///< how much was written
    std::uint64_t bytes = 0;
    /// The stream that was at hand is gone. Append again: it may have been made anew.
    bool try_again = false;
  };
  using Done = std::move_only_function<void(AppendOutcome)>;
  /// POST: append, close, or both. `done` runs on this thread or one of the store's.
  void append(const Request& request, const std::string& name, Done done);
};

/// The stream's name in a path, decoded. Errors: `kInvalidArgument` for broken encoding or a name
/// that cannot be one.
[[nodiscard]] Result<std::string> stream_name(std::string_view path);

}  // namespace holdfast::http
