#include "http/service.h"

#include <unistd.h>

#include <utility>

#include <fmt/format.h>

#include "core/log/names.h"
#include "http/json_body.h"
#include "http/page.h"

namespace holdfast::http {
namespace {

constexpr std::string_view kStreamPath = "/v1/stream/";
constexpr std::string_view kStreamMethods = "GET, HEAD, POST, PUT, DELETE, OPTIONS";

Response method_not_allowed(const Request& request, std::string_view allowed) {
  Response response =
      error_response(405, Error{ErrorCode::kInvalidArgument,
                                fmt::format("{} does not go with this path; it takes {}",
                                            core::printable(request.method_name), allowed)});
  response.set("Allow", std::string{allowed});
  return response;
}

Response preflight() {
  Response response{204};
  response.set("Allow", std::string{kStreamMethods});
  response.set("Access-Control-Allow-Methods", std::string{kStreamMethods});
  response.set("Access-Control-Allow-Headers",
               "Authorization, Content-Type, If-None-Match, Last-Event-ID, Stream-Seq, Stream-TTL, "
               "Stream-Expires-At, Stream-Closed, Stream-Forked-From, Stream-Fork-Offset, "
               "Stream-Fork-Sub-Offset, Producer-Id, Producer-Epoch, Producer-Seq");
  response.set("Access-Control-Max-Age", "600");
  return response;
}

Response health() {
  Response response{200};
  response.set("Content-Type", "application/json");
  response.set("Cache-Control", "no-store");
  response.body = R"({"status":"ok"})";
  return response;
}

bool reads_only(const Request& request) {
  return request.method == Method::kGet || request.method == Method::kHead;
}

}  // namespace

void InFlight::begin() {
  const std::lock_guard lock{mutex_};
  ++count_;
}

void InFlight::end() {
  const std::lock_guard lock{mutex_};
  if (--count_ == 0) none_.notify_all();
}

void InFlight::wait_for_none() {
  std::unique_lock lock{mutex_};
  none_.wait(lock, [this] { return count_ == 0; });
}

Service::Service(Context& context, StreamRoutes routes)
    : context_{context}, routes_{routes}, hub_{context} {
  hub_.on_empty = [this] { maybe_empty(); };
}

Service::~Service() { close_all(); }

void Service::accept(int fd, std::string_view remote) {
  if (context_.metrics.connections >= context_.options.connections_max || context_.stopping) {
    ++context_.metrics.connections_refused;
    rt::Socket socket{context_.loop, fd};
    const Response response = error_response(
        Error{ErrorCode::kUnavailable, "the server has as many connections as it takes"});
    const std::string head =
        response_head(response, nullptr, context_.access, context_.clock.now(), HeadKind::kClose);
    const std::array<std::string_view, 2> pieces{head, response.payload()};
    socket.write(pieces);
    return;
  }
  ++context_.metrics.connections_accepted;
  auto connection = std::make_shared<Connection>(context_, *this, rt::Socket{context_.loop, fd},
                                                 std::string{remote});
  connections_.emplace(connection.get(), connection);
  connection->start();
}

void Service::forget(Connection& connection) {
  const auto found = connections_.find(&connection);
  if (found == connections_.end()) return;
  // It may be in the middle of a call: it goes when that has returned.
  context_.loop.post([gone = std::move(found->second)] {});
  connections_.erase(found);
  maybe_empty();
}

void Service::maybe_empty() {
  if (empty() && on_empty) on_empty();
}

void Service::stop() {
  hub_.stop();
  std::vector<std::shared_ptr<Connection>> all;
  for (const auto& entry : connections_) all.push_back(entry.second);
  for (const auto& connection : all) connection->stop();
  maybe_empty();
}

void Service::close_all() {
  hub_.close_all();
  std::vector<std::shared_ptr<Connection>> all;
  for (const auto& entry : connections_) all.push_back(entry.second);
  for (const auto& connection : all) connection->close();
}

void Service::handle(const std::shared_ptr<Connection>& connection) {
  const Request& request = connection->request();
  const std::string_view path = request.path;
  if (request.method == Method::kOptions) {
    connection->set_route("preflight");
    return connection->respond(preflight());
  }
  if (path.starts_with(kStreamPath)) return serve_stream(connection);
  if (path == "/v1/streams") return serve_list(connection);
  if (path == "/healthz") {
    connection->set_route("healthz");
    return connection->respond(reads_only(request) ? health()
                                                   : method_not_allowed(request, "GET, HEAD"));
  }
  if (path == "/metrics") return serve_metrics(connection);
  connection->set_route(path == "/" || path.starts_with("/assets/") ? "page" : "other");
  connection->respond(reads_only(request) ? page_response(request)
                                          : method_not_allowed(request, "GET, HEAD"));
}

void Service::serve_stream(const std::shared_ptr<Connection>& connection) {
  connection->set_route("stream");
  const Request& request = connection->request();
  auto name = stream_name(request.path);
  if (!name) return connection->respond(error_response(name.error()));
  switch (request.method) {
    case Method::kGet: return read(connection, *name);
    case Method::kPost: return append(connection, *name, false);
    case Method::kPut:
      return answer_from_worker(connection, [this, &request, name = std::move(*name)] {
        return routes_.create(request, name);
      });
    case Method::kHead:
      return answer_from_worker(connection,
                                [this, name = std::move(*name)] { return routes_.head(name); });
    case Method::kDelete:
      return answer_from_worker(connection,
                                [this, name = std::move(*name)] { return routes_.remove(name); });
    case Method::kOptions:
    case Method::kOther: break;
  }
  connection->respond(method_not_allowed(request, kStreamMethods));
}

void Service::serve_list(const std::shared_ptr<Connection>& connection) {
  connection->set_route("streams");
  const Request& request = connection->request();
  if (!reads_only(request)) return connection->respond(method_not_allowed(request, "GET, HEAD"));
  const auto query = Query::parse(request.query);
  const auto live = query ? query->get("live") : std::nullopt;
  if (!live) {
    return answer_from_worker(connection, [this, &request] { return routes_.list(request); });
  }
  if (*live != "events" || request.method != Method::kGet) {
    return connection->respond(error_response(
        Error{ErrorCode::kInvalidArgument, "the list of streams is followed with live=events"}));
  }
  FollowStart start;
  start.form = Form::kList;
  start.at_tail = true;
  // Whoever asks begins by reading the list: what changed before now is in it.
  start.first = hub_.list_frame();
  follow(connection, std::move(start));
}

void Service::serve_metrics(const std::shared_ptr<Connection>& connection) {
  connection->set_route("metrics");
  if (!reads_only(connection->request())) {
    return connection->respond(method_not_allowed(connection->request(), "GET, HEAD"));
  }
  Response response{200};
  response.set("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
  response.set("Cache-Control", "no-store");
  response.body = prometheus_text(context_.metrics, {.store = context_.store.stats(),
                                                     .loop_wakeups = context_.loop.wakeups(),
                                                     .workers_queued = context_.workers.queued(),
                                                     .access_log_dropped = context_.log.dropped()});
  connection->respond(std::move(response));
}

void Service::on_worker(const std::shared_ptr<Connection>& connection, rt::Task work) {
  if (context_.workers.submit(std::move(work))) return;
  connection->respond(error_response(
      Error{ErrorCode::kUnavailable, "too many requests wait for the store; try again shortly"}));
}

// The connection, and with it the request, lives as long as the work that holds it.
void Service::answer_from_worker(const std::shared_ptr<Connection>& connection,
                                 std::move_only_function<Response()> work) {
  on_worker(connection, [connection, &loop = context_.loop, work = std::move(work)]() mutable {
    loop.post(
        [connection, response = work()]() mutable { connection->respond(std::move(response)); });
  });
}

void Service::append(const std::shared_ptr<Connection>& connection, const std::string& name,
                     bool last_try) {
  on_worker(connection, [this, connection, name, last_try] {
    in_flight_.begin();
    routes_.append(connection->request(), name,
                   [this, connection, name, last_try](StreamRoutes::AppendOutcome outcome) mutable {
                     context_.loop.post([this, connection = std::move(connection), name, last_try,
                                         outcome = std::move(outcome)]() mutable {
                       if (outcome.try_again && !last_try) return append(connection, name, true);
                       if (outcome.chunks > 0) {
                         ++context_.metrics.appends;
                         context_.metrics.append_chunks += outcome.chunks;
                         context_.metrics.append_bytes += outcome.bytes;
                       }
                       connection->respond(std::move(outcome.response));
                     });
                     in_flight_.end();
                   });
  });
}

void Service::read(const std::shared_ptr<Connection>& connection, const std::string& name) {
  on_worker(connection, [this, connection, name, &loop = context_.loop] {
    auto read = std::make_shared<StreamRoutes::Read>(routes_.read(connection->request(), name));
    loop.post([this, connection, read] {
      if (!connection->awaits_answer()) return;
      if (read->response) return connection->respond(std::move(*read->response));
      if (read->follow) return follow(connection, std::move(*read->follow));
      auto poll = std::make_unique<LongPoll>(context_, hub_, connection, std::move(*read->poll));
      LongPoll& waiting = *poll;
      connection->wait(std::move(poll));
      if (context_.stopping) return waiting.stop();
      waiting.begin();
    });
  });
}

void Service::follow(const std::shared_ptr<Connection>& connection, FollowStart start) {
  Response response{200};
  response.set("Content-Type", "text/event-stream");
  response.set("Cache-Control", "no-cache, no-transform");
  response.set("X-Accel-Buffering", "no");
  if (start.opened && !is_text(start.opened->content_type)) {
    response.set("Stream-SSE-Data-Encoding", "base64");
  }
  const Request& request = connection->request();
  std::string head = response_head(response, &request, context_.access, context_.clock.now(),
                                   request.http_1_0 ? HeadKind::kUntilClose : HeadKind::kChunked);
  if (start.form != Form::kProtocol) {
    FrameBuilder retry;
    retry.raw("retry: 1000\n\n");
    const FramePtr frame = retry.finish();
    head += request.http_1_0 ? frame->plain() : frame->chunked();
  }
  hub_.add(std::make_shared<Follower>(context_, hub_, connection->hand_over(), std::move(start)),
           std::move(head));
}

}  // namespace holdfast::http
