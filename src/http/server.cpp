#include "http/server.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "http/context.h"
#include "http/service.h"
#include "http/stream_cache.h"
#include "rt/tcp.h"

namespace holdfast::http {
namespace {

constexpr std::chrono::milliseconds kSweepSoonest{1'000};

}  // namespace

struct Server::Impl {
  Impl(const ServerOptions& given, rt::Listening at, Store& store, Streams& streams)
      : options{given},
        address{std::move(at)},
        workers{{.threads = std::max<std::size_t>(given.workers, 1),
                 .queue_max = given.worker_queue_max}},
        cache{streams},
        context{options, loop, workers, store, streams, cache},
        service{std::make_unique<Service>(context, StreamRoutes{streams, cache, options})},
        sweep_timer{loop, [this] { sweep(); }},
        stop_timer{loop, [this] { loop.stop(); }} {}

  ~Impl() {
    // Workers and the store post to the loop: they end first. What they have posted runs while what
    // it touches is still there.
    list_watch = Watch{};
    workers.stop();
    service->wait_for_store();
    listener.reset();
    loop.poll();
    service.reset();
    loop.poll();
  }

  void start() {
    listener = std::make_unique<rt::Listener>(
        loop, address.fd, [this](int fd, std::string_view remote) { service->accept(fd, remote); });
    auto watching = context.streams.watch_list([this] { loop.post([this] { sweep_soon(); }); });
    if (watching) list_watch = std::move(*watching);
    sweep();
  }

  // Expired streams and old chunks go when they are due; what is due next is known only after a
  // look, so each change of the list asks for one, at most one a second.
  void sweep_soon() {
    if (stopping || sweeping) {
      sweep_again = true;
      return;
    }
    const auto at = rt::Loop::now() + kSweepSoonest;
    if (!sweep_timer.armed() || at < sweep_at) arm_sweep(at);
  }

  void arm_sweep(rt::SteadyTime at) {
    sweep_at = at;
    sweep_timer.arm(at);
  }

  void sweep() {
    if (stopping || std::exchange(sweeping, true)) return;
    workers.submit_urgent([this] {
      auto next = context.streams.sweep();
      loop.post([this, next = std::move(next)] { swept(next); });
    });
  }

  void swept(const Result<std::optional<Timestamp>>& next) {
    sweeping = false;
    if (std::exchange(sweep_again, false)) return sweep_soon();
    if (!next) return arm_sweep(rt::Loop::now() + std::chrono::seconds{60});
    if (!*next) return;
    const std::int64_t wait_ms =
        std::clamp<std::int64_t>((**next).ms - context.clock.now().ms, 0, 86'400'000);
    arm_sweep(rt::Loop::now() + std::max(kSweepSoonest, std::chrono::milliseconds{wait_ms}));
  }

  void stop() {
    if (std::exchange(stopping, true)) return loop.stop();
    context.stopping = true;
    listener.reset();
    stop_timer.arm(rt::Loop::now() + options.stop_timeout);
    service->on_empty = [this] { loop.stop(); };
    service->stop();
  }

  const ServerOptions options;
  rt::Listening address;
  rt::Loop loop;
  rt::WorkerPool workers;
  StreamCache cache;
  Context context;
  std::unique_ptr<Service> service;
  std::unique_ptr<rt::Listener> listener;
  Watch list_watch;
  rt::Timer sweep_timer;
  rt::Timer stop_timer;
  std::unique_ptr<rt::SignalWatch> signals;
  rt::SteadyTime sweep_at{};
  bool sweeping = false;
  bool sweep_again = false;
  bool stopping = false;
};

Result<std::unique_ptr<Server>> Server::open(const ServerOptions& options, Store& store,
                                             Streams& streams) {
  if (options.token.empty() && !rt::is_loopback(options.address)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("others can reach {}, so a token is demanded: give --token-file FILE, "
                            "or HOLDFAST_TOKEN in the environment; or listen on 127.0.0.1",
                            options.address));
  }
  auto listening = rt::listen_tcp(options.address, options.port);
  if (!listening) return fail(std::move(listening.error()));
  rt::raise_descriptor_limit();
  return std::unique_ptr<Server>{
      new Server{std::make_unique<Impl>(options, std::move(*listening), store, streams)}};
}

Server::Server(std::unique_ptr<Impl> impl) : impl_{std::move(impl)} {}
Server::~Server() = default;

std::uint16_t Server::port() const { return impl_->address.port; }

std::string Server::url() const {
  const std::string& address = impl_->address.address;
  const bool v6 = address.contains(':');
  return fmt::format("http://{}{}{}:{}", v6 ? "[" : "", address, v6 ? "]" : "",
                     impl_->address.port);
}

void Server::stop_on_signals() {
  impl_->signals =
      std::make_unique<rt::SignalWatch>(impl_->loop, [impl = impl_.get()](int) { impl->stop(); });
}

void Server::run() {
  impl_->start();
  impl_->loop.run();
  impl_->signals.reset();
  impl_->service->close_all();
  impl_->context.log.flush();
}

void Server::stop() {
  impl_->loop.post([impl = impl_.get()] { impl->stop(); });
}

Result<void> run_server(const ServerOptions& options, Store& store, Streams& streams,
                        const std::function<void(const Server&)>& on_ready) {
  auto server = Server::open(options, store, streams);
  if (!server) return fail(std::move(server.error()));
  (*server)->stop_on_signals();
  if (on_ready) on_ready(**server);
  (*server)->run();
  return {};
}

}  // namespace holdfast::http
