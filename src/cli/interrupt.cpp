#include "cli/interrupt.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <utility>

#include <holdfast/check.h>

namespace holdfast::cli {
namespace {

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

void raise_event(int event_fd) {
  const std::uint64_t one = 1;
  HOLDFAST_CHECK(::write(event_fd, &one, sizeof one) == sizeof one, "an eventfd takes a count");
}

}  // namespace

Interrupt::Interrupt(int output_fd) {
  const sigset_t set = stop_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signals_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  told_ = ::eventfd(0, EFD_CLOEXEC);
  leave_ = ::eventfd(0, EFD_CLOEXEC);
  HOLDFAST_CHECK(signals_ >= 0 && told_ >= 0 && leave_ >= 0,
                 "out of file descriptors at the start");
  thread_ = std::thread{[this, output_fd] { watch(output_fd); }};
}

Interrupt::~Interrupt() {
  raise_event(leave_);
  thread_.join();
  ::close(signals_);
  ::close(told_);
  ::close(leave_);
  const sigset_t set = stop_signals();
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

void Interrupt::on_stop(std::function<void()> stop) {
  const std::lock_guard lock{mutex_};
  stop_ = std::move(stop);
  if (requested() && stop_) stop_();
}

void Interrupt::tell(Cause cause) {
  const std::lock_guard lock{mutex_};
  cause_.store(cause);
  raise_event(told_);
  if (stop_) stop_();
}

void Interrupt::watch(int output_fd) {
  constexpr int kCancelled = 130;
  // A pipe without a reader reports an error by itself; nothing else is asked of the output.
  std::array<pollfd, 3> watched{pollfd{.fd = signals_, .events = POLLIN, .revents = 0},
                                pollfd{.fd = leave_, .events = POLLIN, .revents = 0},
                                pollfd{.fd = output_fd, .events = 0, .revents = 0}};
  for (;;) {
    if (::poll(watched.data(), watched.size(), -1) < 0) continue;
    if (watched[1].revents != 0) return;
    if ((watched[0].revents & POLLIN) != 0) {
      signalfd_siginfo info{};
      if (::read(signals_, &info, sizeof info) != sizeof info) continue;
      if (requested()) ::_exit(kCancelled);
      tell(Cause::kSignal);
    } else if (watched[2].revents != 0) {
      watched[2].fd = -1;
      if (!requested()) tell(Cause::kReaderGone);
    }
  }
}

}  // namespace holdfast::cli
