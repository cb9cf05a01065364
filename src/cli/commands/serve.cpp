// `serve`: the store's streams over HTTP.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/context.h"
#include "http/server.h"

namespace holdfast::cli {
namespace {

// The first line of a file that only its owner should be able to read.
Result<std::string> read_token(const std::string& path) {
  constexpr std::size_t kTokenBytesMax = 4096;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail(system_error("open", path, errno));
  std::array<char, kTokenBytesMax + 1> bytes{};
  const ssize_t got = ::read(fd, bytes.data(), bytes.size());
  const int error_number = errno;
  ::close(fd);
  if (got < 0) return fail(system_error("read", path, error_number));
  std::string token(bytes.data(), static_cast<std::size_t>(got));
  token.erase(std::min(token.find_first_of("\r\n"), token.size()));
  if (token.empty() || token.size() > kTokenBytesMax) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("the token file {} must hold the token in its first line, 1 to {} "
                            "bytes, but that has {}",
                            path, kTokenBytesMax, token.size()));
  }
  return token;
}

class Serve final : public Command {
 public:
  Serve() : Command{"serve", "Offer the store's streams over HTTP"} {
    describe(
        "Makes the store if it is missing. Streams are at /v1/stream/NAME, in the Durable Streams "
        "protocol and as server-sent events; a page that shows them is at /. Other processes may "
        "use the store meanwhile.");
    describe(
        "It listens on 127.0.0.1 unless told otherwise. On any other address it demands a token: "
        "give --token-file. SIGINT or SIGTERM stops it cleanly; a second one at once.");
    option("-p,--port", "N", "Where to listen (default 4437); 0 takes a free one.", http_.port);
    option("--address", "A", "The address to listen on, numeric (default 127.0.0.1).",
           http_.address);
    option("--token-file", "FILE",
           "Demand the token that is this file's first line (default $HOLDFAST_TOKEN).",
           token_file_)
        .completes = Completes::kFile;
    option("--cors-origin", "ORIGIN",
           "Let pages of this origin use the server; '*' for all. May be given again.",
           http_.cors_origins);
    option("--allow-host", "HOST",
           "Answer requests that name this host, too, where no token is demanded. May be given "
           "again.",
           http_.allow_hosts);
    option("--long-poll-ms", "N", "How long a long-poll waits (default 20000).", long_poll_ms_);
    option("--heartbeat-ms", "N", "How often a silent event stream is kept alive (default 14000).",
           heartbeat_ms_);
    option("--connections-max", "N", "Refuse more connections than this (default 20000).",
           connections_max_);
    option("--body-bytes-max", "SIZE", "Refuse larger request bodies (default 64MiB).",
           body_bytes_max_);
    flag("--access-log", "Write a line of JSON for each request to standard error.", access_log_);
    example("For this machine", "holdfast --store prod.db serve --port 4437");
    example("For others", "holdfast serve --address 0.0.0.0 --token-file token.txt");
  }

  [[nodiscard]] Result<void> validate() const override {
    if (heartbeat_ms_ && (*heartbeat_ms_ == 0 || *heartbeat_ms_ > kHeartbeatMsMost)) {
      return fail(
          ErrorCode::kInvalidArgument,
          fmt::format("--heartbeat-ms wants 1 to {}, not {}: clients are promised a sign of "
                      "life at least every 15 s",
                      kHeartbeatMsMost, *heartbeat_ms_));
    }
    if (long_poll_ms_ && *long_poll_ms_ > kLongPollMsMost) {
      return fail(
          ErrorCode::kInvalidArgument,
          fmt::format("--long-poll-ms wants at most {}, not {}", kLongPollMsMost, *long_poll_ms_));
    }
    return {};
  }

  Result<int> run(Context& context) override {
    if (!token_file_.empty()) {
      auto token = read_token(token_file_);
      if (!token) return fail(std::move(token.error()));
      http_.token = std::move(*token);
    } else if (const char* token = std::getenv("HOLDFAST_TOKEN"); token != nullptr) {
      http_.token = token;
    }
    if (long_poll_ms_) http_.long_poll_wait = std::chrono::milliseconds{*long_poll_ms_};
    if (heartbeat_ms_) http_.heartbeat = std::chrono::milliseconds{*heartbeat_ms_};
    if (connections_max_) http_.connections_max = *connections_max_;
    if (body_bytes_max_) http_.body_bytes_max = body_bytes_max_->value;
    if (access_log_) http_.access_log_fd = STDERR_FILENO;
    auto opened = context.open(Access::kCreate);
    if (!opened) return fail(std::move(opened.error()));
    auto served = http::run_server(http_, *opened->store, opened->streams,
                                   [&](const http::Server& server) { say_ready(context, server); });
    if (!served) return fail(std::move(served.error()));
    context.note("stopped");
    return 0;
  }

 private:
  // On standard output, so that a script can wait for the line and read the address from it.
  static void say_ready(Context& context, const http::Server& server) {
    JsonObject object;
    object.add("url", server.url()).add("port", server.port()).add("store", context.store_path());
    context.report(fmt::format("serving {} at {}", context.store_path(), server.url()), object);
    context.out().flush();
  }

  static constexpr std::uint64_t kHeartbeatMsMost = 15'000;
  static constexpr std::uint64_t kLongPollMsMost = 600'000;

  http::ServerOptions http_;
  std::string token_file_;
  std::optional<std::uint64_t> long_poll_ms_;
  std::optional<std::uint64_t> heartbeat_ms_;
  std::optional<std::uint64_t> connections_max_;
  std::optional<ByteCount> body_bytes_max_;
  bool access_log_ = false;
};

}  // namespace

CommandPtr serve_command() { return std::make_unique<Serve>(); }

}  // namespace holdfast::cli
