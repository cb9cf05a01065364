#include "store/sqlite/writer_guard.h"

#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>

namespace holdfast::store {
namespace {

// Since Linux 5.3, the same number on every architecture.
constexpr long kSysPidfdOpen = 434;

}  // namespace

Result<std::thread> start_quiet_thread(const char* name, std::function<void()> body) {
  sigset_t all{};
  sigset_t before{};
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  Result<std::thread> started = fail(ErrorCode::kUnavailable, "");
  try {
    started = std::thread{std::move(body)};
    pthread_setname_np(started->native_handle(), name);
  } catch (const std::system_error& error) {
    started = fail(ErrorCode::kUnavailable,
                   fmt::format("cannot start the thread '{}': {}; raise the limit of threads", name,
                               error.what()));
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

WriterGuard::WriterGuard(Bell& bell, Hooks hooks)
    : bell_{bell},
      hooks_{std::move(hooks)},
      pid_namespace_{own_pid_namespace()},
      deaths_seen_{bell.layout().deaths.load()} {}

WriterGuard::~WriterGuard() {
  stopping_.store(true);
  if (thread_.joinable()) {
    poke();
    thread_.join();
  }
  for (const Watched& watched : watched_) {
    if (watched.pidfd >= 0) ::close(watched.pidfd);
  }
  if (poke_fd_ >= 0) ::close(poke_fd_);
}

Result<void> WriterGuard::start() {
  poke_fd_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (poke_fd_ < 0) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("cannot make an event descriptor to watch the store: {}; raise the "
                            "limit of open files",
                            std::strerror(errno)));
  }
  auto thread = start_quiet_thread("holdfast-guard", [this] { run(); });
  if (!thread) {
    ::close(std::exchange(poke_fd_, -1));
    return fail(std::move(thread.error()));
  }
  thread_ = std::move(*thread);
  return {};
}

void WriterGuard::poke() {
  const std::uint64_t one = 1;
  (void)!::write(poke_fd_, &one, sizeof one);  // full means poked already
}

void WriterGuard::run() {
  while (!stopping_.load()) {
    scan();
    wait();
    wakeups_.fetch_add(1);
    std::uint64_t count = 0;
    (void)!::read(poke_fd_, &count, sizeof count);
  }
}

int WriterGuard::open_pidfd(const ListedWriter& writer) const {
  if (hooks_.without_pidfds || writer.pid_namespace != pid_namespace_) return -1;
  return static_cast<int>(syscall(kSysPidfdOpen, writer.pid, 0));
}

/// Brings what is watched in line with the table.
void WriterGuard::scan() {
  std::vector<Watched> next;
  std::size_t unwatchable = bell_.layout().unlisted.load() != 0 ? 1 : 0;
  bool died = false;
  for (const ListedWriter& writer : bell_.writers()) {
    if (writer == bell_.own_place()) continue;
    const auto known = std::find_if(watched_.begin(), watched_.end(), [&](const Watched& watched) {
      return watched.pidfd >= 0 && watched.writer == writer;
    });
    if (known != watched_.end()) {
      next.push_back({writer, std::exchange(known->pidfd, -1)});
      continue;
    }
    const int pidfd = open_pidfd(writer);
    // Asked after opening: if he lives now, the number was his all the time.
    if (!bell_.lives(writer)) {
      if (pidfd >= 0) ::close(pidfd);
      died |= bell_.reap(writer);
    } else if (pidfd < 0) {
      ++unwatchable;
    } else {
      next.push_back({writer, pidfd});
    }
  }
  for (const Watched& gone : watched_) {
    if (gone.pidfd >= 0) ::close(gone.pidfd);
  }
  watched_ = std::move(next);
  unwatchable_.store(unwatchable);
  const std::uint32_t deaths = bell_.layout().deaths.load();
  if (deaths != deaths_seen_) died = true;
  deaths_seen_ = deaths;
  if (died) hooks_.on_death();
}

void WriterGuard::check_elsewhere() {
  if (!hooks_.changed_elsewhere || hooks_.changed_elsewhere()) hooks_.on_death();
}

void WriterGuard::wait() {
  std::vector<pollfd> polled;
  polled.push_back({poke_fd_, POLLIN, 0});
  for (const Watched& watched : watched_) polled.push_back({watched.pidfd, POLLIN, 0});
  const bool by_clock = unwatchable_.load() != 0;
  const int limit_ms = by_clock ? static_cast<int>(hooks_.check_interval.count()) : -1;
  const int ready = ::poll(polled.data(), polled.size(), limit_ms);
  if (ready == 0 && by_clock) check_elsewhere();
  bool died = false;
  for (std::size_t i = 1; ready > 0 && i < polled.size(); ++i) {
    if (polled[i].revents == 0) continue;
    Watched& dead = watched_[i - 1];
    ::close(std::exchange(dead.pidfd, -1));
    died |= bell_.reap(dead.writer);  // not if it left in order; or another was faster, see scan()
  }
  if (died) hooks_.on_death();
}

}  // namespace holdfast::store
