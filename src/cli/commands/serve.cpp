// `serve`: the store's streams over HTTP, until it is told to stop.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/context.h"
#include "http/server.h"

namespace holdfast::cli {
namespace {

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

class Serve final : public Command {
 public:
  Serve() : Command{"serve", "Offer the store's streams over HTTP"} {
    describe(
        "Makes the store if it is missing. Listens on 127.0.0.1 unless told otherwise; on any "
        "address that others can reach a token is demanded. Prints where it listens, then a line "
        "of JSON for each request to standard error. SIGTERM or Ctrl-C stops it: followers get a "
        "goodbye, requests under way are answered.");
    option("--port", "N", "Port to listen on; 0 takes a free one (default 4437).", port_);
    option("--address", "A", "Address to listen on (default 127.0.0.1).", options_.address);
    option("--token-file", "FILE",
           "Demand the token in this file as 'Authorization: Bearer TOKEN'. Without it, "
           "$HOLDFAST_TOKEN is taken, if it is set.",
           token_file_)
        .completes = Completes::kFile;
    option("--long-poll-ms", "N", "How long a long-poll waits (default 20000).", long_poll_ms_);
    option("--heartbeat-ms", "N", "How often a silent event stream gets a comment (default 14000).",
           heartbeat_ms_);
    option("--connections-max", "N", "Connections at once (default 20000).", connections_max_);
    option("--body-bytes-max", "N", "Bytes in the body of a request (default 67108864).",
           body_bytes_max_);
    option("--workers", "N", "Threads that work on the store (default 4).", workers_);
    option("--cors-origin", "ORIGIN",
           "Let pages of this origin use the server, as 'https://example.org', or '*' for all. "
           "Several are separated by commas.",
           cors_origins_);
    option("--allow-host", "NAME",
           "Answer requests for this host name, too, where no token is demanded. Several are "
           "separated by commas.",
           allow_hosts_);
    option("--access-log", "FILE",
           "Where the lines of requests go: a file, '-' for standard error (default), or 'off'.",
           access_log_)
        .completes = Completes::kFile;
    option("--stop-timeout-ms", "N", "When stopping, cut off what is left then (default 5000).",
           stop_timeout_ms_);
    example("Serve a store on a free port", "holdfast --store chats.db serve --port 0");
    example("Let others in",
            "holdfast serve --address 0.0.0.0 --token-file token --access-log access.jsonl");
  }

  Result<int> run(Context& context) override {
    if (auto read = read_token(); !read) return fail(std::move(read.error()));
    if (auto set = set_options(); !set) return fail(std::move(set.error()));
    auto opened = context.open(Access::kCreate);
    if (!opened) return fail(std::move(opened.error()));
    auto served = http::run_server(
        options_, *opened->store, opened->streams, [&](const http::Server& server) {
          JsonObject ready;
          ready.add("url", server.url()).add("port", std::uint64_t{server.port()});
          context.report(fmt::format("Serving {} at {}", context.store_path(), server.url()),
                         ready);
          context.out().flush();
        });
    if (log_fd_ > STDERR_FILENO) ::close(log_fd_);
    if (!served) return fail(std::move(served.error()));
    return 0;
  }

 private:
  Result<void> read_token() {
    if (token_file_.empty()) {
      const char* token = std::getenv("HOLDFAST_TOKEN");
      if (token != nullptr) options_.token = without_blanks(token);
      return {};
    }
    std::ifstream file{token_file_};
    std::string text{std::istreambuf_iterator<char>{file}, {}};
    options_.token = without_blanks(text);
    if (!file || options_.token.empty()) {
      return fail(
          ErrorCode::kInvalidArgument,
          fmt::format("there is no token in '{}': put one line of text there", token_file_));
    }
    return {};
  }

  Result<void> set_options() {
    if (port_ > 65'535) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("--port is {}: it must be from 0 to 65535", port_));
    }
    if (heartbeat_ms_ == 0 || workers_ == 0 || workers_ > 256) {
      return fail(ErrorCode::kInvalidArgument,
                  "--heartbeat-ms must be at least 1, and --workers from 1 to 256");
    }
    options_.port = static_cast<std::uint16_t>(port_);
    const auto ms = [](std::uint64_t value) {
      return std::chrono::milliseconds{static_cast<std::int64_t>(value)};
    };
    options_.long_poll_wait = ms(long_poll_ms_);
    options_.heartbeat = ms(heartbeat_ms_);
    options_.stop_timeout = ms(stop_timeout_ms_);
    options_.connections_max = connections_max_;
    options_.body_bytes_max = body_bytes_max_;
    options_.workers = workers_;
    options_.cors_origins = split(cors_origins_);
    options_.allow_hosts = split(allow_hosts_);
    if (access_log_ == "off") return {};
    log_fd_ = STDERR_FILENO;
    if (access_log_ != "-") {
      log_fd_ = ::open(access_log_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
      if (log_fd_ < 0) {
        return fail(ErrorCode::kIo, fmt::format("cannot write the access log '{}'", access_log_));
      }
    }
    options_.access_log_fd = log_fd_;
    return {};
  }

  static std::vector<std::string> split(std::string_view text) {
    std::vector<std::string> parts;
    while (!text.empty()) {
      const std::size_t comma = std::min(text.find(','), text.size());
      if (const auto part = without_blanks(text.substr(0, comma)); !part.empty()) {
        parts.emplace_back(part);
      }
      text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return parts;
  }

  http::ServerOptions options_;
  std::string token_file_;
  std::string cors_origins_;
  std::string allow_hosts_;
  std::string access_log_ = "-";
  std::uint64_t port_ = 4'437;
  std::uint64_t long_poll_ms_ = 20'000;
  std::uint64_t heartbeat_ms_ = 14'000;
  std::uint64_t stop_timeout_ms_ = 5'000;
  std::uint64_t connections_max_ = 20'000;
  std::uint64_t body_bytes_max_ = 64u << 20;
  std::uint64_t workers_ = 4;
  int log_fd_ = -1;
};

}  // namespace

CommandPtr serve_command() { return std::make_unique<Serve>(); }

}  // namespace holdfast::cli
