// One thread's event loop: readiness of sockets, timers, signals, and tasks posted from elsewhere.
//
// Invariants
//   - Callbacks run on the thread that is in run(), one after the other.
//   - While nothing happens the thread sleeps in the kernel: no periodic wake-up of the loop's own.
//   - A destroyed Socket, Timer or SignalWatch makes no callback any more.
//
// The implementation is Boost.Asio's; loop.cpp is the only file that includes it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

namespace holdfast::rt {

using Task = std::move_only_function<void()>;
using SteadyTime = std::chrono::steady_clock::time_point;

class Loop {
 public:
  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  /// Runs callbacks until stop(). May be called again afterwards.
  void run();
  /// Runs what is ready and returns at once: for tests that drive the loop by hand.
  void poll();
  /// Ends run(). From any thread.
  void stop();
  /// Runs `task` on the loop, after what is queued already. From any thread.
  void post(Task task);
  /// The moment as the loop sees it.
  [[nodiscard]] static SteadyTime now() { return std::chrono::steady_clock::now(); }
  /// How often run() left its sleep, for tests and metrics. From any thread.
  [[nodiscard]] std::uint64_t wakeups() const;

  struct Impl;
  [[nodiscard]] Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

/// Told when a socket can be read or written. Loop thread.
class SocketEvents {
 public:
  virtual ~SocketEvents() = default;
  virtual void readable() = 0;
  virtual void writable() = 0;
};

/// What a non-blocking call on a socket came to.
struct IoResult {
  enum class Kind : std::uint8_t { kDone, kWouldBlock, kEof, kError };
  Kind kind = Kind::kDone;
  std::size_t bytes = 0;
};

/// A connected stream socket that owns its descriptor. Loop thread only. An idle one costs no read
/// buffer: readiness is waited for, then the caller reads into a buffer of its own.
class Socket {
 public:
  Socket() = default;
  /// Takes over `fd`, a stream socket.
  Socket(Loop& loop, int fd);
  Socket(Socket&&) noexcept = default;
  Socket& operator=(Socket&& other) noexcept;
  ~Socket();

  [[nodiscard]] explicit operator bool() const { return state_ != nullptr; }
  /// Who is told from now on; null for nobody.
  void set_events(SocketEvents* events);
  /// Asks for one readable() or writable(). Asking again before it came changes nothing.
  void wait_readable();
  void wait_writable();

  /// Reads what is there, at most `size` bytes, without waiting. kEof: the peer closed its side.
  IoResult read(char* into, std::size_t size);
  /// Looks whether the peer has closed, without taking bytes: kWouldBlock while it is open and
  /// silent.
  IoResult peek();
  /// Writes what the kernel takes of the pieces, in order, without waiting.
  IoResult write(std::span<const std::string_view> pieces);
  /// Ends our side; the peer reads what was written, then the end.
  void shutdown_write();
  void close();
  [[nodiscard]] int fd() const;

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with waits that are under way
};

/// Accepts connections at an address. Loop thread only.
class Listener {
 public:
  /// Given the descriptor of each new connection, to own, and its peer ("127.0.0.1:4711").
  using OnAccept = std::move_only_function<void(int fd, std::string_view remote)>;

  /// Takes over `fd`, a listening socket (see listen_tcp).
  Listener(Loop& loop, int fd, OnAccept on_accept);
  ~Listener();
  /// Stops accepting while true; connections wait in the kernel's queue.
  void pause(bool paused);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Calls back once at a moment. Loop thread only.
class Timer {
 public:
  Timer(Loop& loop, std::function<void()> on_fire);
  ~Timer();
  /// Fires at `at`, in place of any moment set before.
  void arm(SteadyTime at);
  void cancel();
  [[nodiscard]] bool armed() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Calls back for each SIGINT or SIGTERM that the process gets while this lives. Loop thread only.
class SignalWatch {
 public:
  SignalWatch(Loop& loop, std::function<void(int signal)> on_signal);
  ~SignalWatch();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace holdfast::rt
