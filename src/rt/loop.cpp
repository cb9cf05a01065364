#include "rt/loop.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <csignal>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace holdfast::rt {

namespace asio = boost::asio;
using boost::system::error_code;

struct Loop::Impl {
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
  std::atomic<std::uint64_t> wakeups{0};
};

Loop::Loop() : impl_{std::make_unique<Impl>()} {}
Loop::~Loop() = default;

void Loop::run() {
  impl_->context.restart();
  while (!impl_->context.stopped()) {
    if (impl_->context.run_one() == 0) break;
    impl_->wakeups.fetch_add(1, std::memory_order_relaxed);
    impl_->context.poll();
  }
}

void Loop::poll() {
  impl_->context.restart();
  impl_->context.poll();
}

void Loop::stop() { impl_->context.stop(); }
void Loop::post(Task task) { asio::post(impl_->context, std::move(task)); }
std::uint64_t Loop::wakeups() const { return impl_->wakeups.load(std::memory_order_relaxed); }

// --- Socket
// ---------------------------------------------------------------------------------------

struct Socket::State {
  State(asio::io_context& context, int fd) : descriptor{context, fd} {}
  asio::posix::stream_descriptor descriptor;
  SocketEvents* events = nullptr;
  bool waits_read = false;
  bool waits_write = false;
};

namespace {

IoResult outcome(ssize_t got) {
  if (got >= 0) return {.bytes = static_cast<std::size_t>(got)};
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) {
    return {.kind = IoResult::Kind::kWouldBlock};
  }
  return {.kind = IoResult::Kind::kError};
}

}  // namespace

Socket::Socket(Loop& loop, int fd) : state_{std::make_shared<State>(loop.impl().context, fd)} {
  error_code ignored;
  state_->descriptor.non_blocking(true, ignored);
}

Socket::~Socket() { close(); }

Socket& Socket::operator=(Socket&& other) noexcept {
  if (this != &other) {
    close();
    state_ = std::move(other.state_);
  }
  return *this;
}

void Socket::set_events(SocketEvents* events) { state_->events = events; }

void Socket::wait_readable() {
  if (std::exchange(state_->waits_read, true)) return;
  state_->descriptor.async_wait(asio::posix::descriptor_base::wait_read,
                                [state = state_](error_code error) {
                                  state->waits_read = false;
                                  if (error == asio::error::operation_aborted) return;
                                  if (state->events != nullptr) state->events->readable();
                                });
}

void Socket::wait_writable() {
  if (std::exchange(state_->waits_write, true)) return;
  state_->descriptor.async_wait(asio::posix::descriptor_base::wait_write,
                                [state = state_](error_code error) {
                                  state->waits_write = false;
                                  if (error == asio::error::operation_aborted) return;
                                  if (state->events != nullptr) state->events->writable();
                                });
}

IoResult Socket::read(char* into, std::size_t size) {
  IoResult result = outcome(::recv(fd(), into, size, MSG_DONTWAIT));
  if (result.kind == IoResult::Kind::kDone && result.bytes == 0) result.kind = IoResult::Kind::kEof;
  return result;
}

IoResult Socket::peek() {
  char byte = 0;
  IoResult result = outcome(::recv(fd(), &byte, 1, MSG_DONTWAIT | MSG_PEEK));
  if (result.kind == IoResult::Kind::kDone && result.bytes == 0) result.kind = IoResult::Kind::kEof;
  return result;
}

IoResult Socket::write(std::span<const std::string_view> pieces) {
  if (pieces.size() == 1) {
    const std::string_view piece = pieces.front();
    return outcome(::send(fd(), piece.data(), piece.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
  }
  std::array<iovec, 16> vectors{};
  std::size_t count = 0;
  for (std::string_view piece : pieces) {
    if (piece.empty()) continue;
    if (count == vectors.size()) break;
    vectors[count++] = {const_cast<char*>(piece.data()), piece.size()};
  }
  if (count == 0) return {};
  msghdr message{};
  message.msg_iov = vectors.data();
  message.msg_iovlen = count;
  return outcome(::sendmsg(fd(), &message, MSG_DONTWAIT | MSG_NOSIGNAL));
}

void Socket::shutdown_write() { ::shutdown(fd(), SHUT_WR); }

void Socket::close() {
  if (!state_) return;
  state_->events = nullptr;
  error_code ignored;
  state_->descriptor.close(ignored);
  state_.reset();
}

int Socket::fd() const { return state_->descriptor.native_handle(); }

// --- Listener
// -------------------------------------------------------------------------------------

struct Listener::State : std::enable_shared_from_this<Listener::State> {
  State(Loop& owner, int fd, OnAccept callback)
      : descriptor{owner.impl().context, fd},
        pause_timer{owner.impl().context},
        on_accept{std::move(callback)} {
    error_code ignored;
    descriptor.non_blocking(true, ignored);
  }

  void wait() {
    if (paused || waiting || closed) return;
    waiting = true;
    descriptor.async_wait(asio::posix::descriptor_base::wait_read,
                          [self = shared_from_this()](error_code error) {
                            self->waiting = false;
                            if (error || self->closed) return;
                            self->accept_all();
                          });
  }

  void accept_all() {
    // A bounded number at a time, so that a flood of connections does not starve those there are.
    for (int accepted = 0; accepted < 64 && !paused && !closed; ++accepted) {
      sockaddr_storage peer{};
      socklen_t size = sizeof peer;
      const int fd = ::accept4(descriptor.native_handle(), reinterpret_cast<sockaddr*>(&peer),
                               &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
          retry_later();
          return;
        }
        if (errno == ECONNABORTED || errno == EINTR) continue;
        break;
      }
      on_accept(fd, name_of(peer));
    }
    wait();
  }

  // Out of descriptors: accepting again at once would only spin.
  void retry_later() {
    pause_timer.expires_after(std::chrono::milliseconds{100});
    pause_timer.async_wait([self = shared_from_this()](error_code error) {
      if (!error) self->wait();
    });
  }

  static std::string name_of(const sockaddr_storage& peer) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (peer.ss_family == AF_INET) {
      sockaddr_in v4{};
      __builtin_memcpy(&v4, &peer, sizeof v4);
      ::inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
      return fmt::format("{}:{}", text.data(), ntohs(v4.sin_port));
    }
    if (peer.ss_family == AF_INET6) {
      sockaddr_in6 v6{};
      __builtin_memcpy(&v6, &peer, sizeof v6);
      ::inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
      return fmt::format("[{}]:{}", text.data(), ntohs(v6.sin6_port));
    }
    return "local";
  }

  asio::posix::stream_descriptor descriptor;
  asio::steady_timer pause_timer;
  OnAccept on_accept;
  bool waiting = false;
  bool paused = false;
  bool closed = false;
};

Listener::Listener(Loop& loop, int fd, OnAccept on_accept)
    : state_{std::make_shared<State>(loop, fd, std::move(on_accept))} {
  state_->wait();
}

Listener::~Listener() {
  state_->closed = true;
  error_code ignored;
  state_->descriptor.close(ignored);
  state_->pause_timer.cancel();
}

void Listener::pause(bool paused) {
  state_->paused = paused;
  state_->wait();
}

// --- Timer and signals
// ----------------------------------------------------------------------------

struct Timer::State : std::enable_shared_from_this<Timer::State> {
  State(Loop& loop, std::function<void()> callback)
      : timer{loop.impl().context}, on_fire{std::move(callback)} {}
  asio::steady_timer timer;
  std::function<void()> on_fire;
  std::uint64_t generation = 0;  // a wait of an older one is out of date
  bool armed = false;
};

Timer::Timer(Loop& loop, std::function<void()> on_fire)
    : state_{std::make_shared<State>(loop, std::move(on_fire))} {}

Timer::~Timer() { cancel(); }

void Timer::arm(SteadyTime at) {
  const std::uint64_t mine = ++state_->generation;
  state_->armed = true;
  state_->timer.expires_at(at);
  state_->timer.async_wait([state = state_, mine](error_code error) {
    if (error || state->generation != mine) return;
    state->armed = false;
    state->on_fire();
  });
}

void Timer::cancel() {
  ++state_->generation;
  state_->armed = false;
  state_->timer.cancel();
}

bool Timer::armed() const { return state_->armed; }

struct SignalWatch::State : std::enable_shared_from_this<SignalWatch::State> {
  State(Loop& loop, std::function<void(int)> callback)
      : signals{loop.impl().context, SIGINT, SIGTERM}, on_signal{std::move(callback)} {}
  void wait() {
    signals.async_wait([self = shared_from_this()](error_code error, int signal) {
      if (error || self->closed) return;
      self->wait();
      self->on_signal(signal);
    });
  }
  asio::signal_set signals;
  std::function<void(int)> on_signal;
  bool closed = false;
};

SignalWatch::SignalWatch(Loop& loop, std::function<void(int signal)> on_signal)
    : state_{std::make_shared<State>(loop, std::move(on_signal))} {
  state_->wait();
}

SignalWatch::~SignalWatch() {
  state_->closed = true;
  error_code ignored;
  state_->signals.cancel(ignored);
}

}  // namespace holdfast::rt
