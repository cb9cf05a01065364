// What the doorbell's tests share: a temporary store path, counted callbacks, child processes, and
// how often the doorbell's own threads have slept. Included by tests only.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <utility>

#include <holdfast/store.h>

namespace holdfast::store::testing {

/// The deadline of what must happen; never reached unless it does not.
inline constexpr std::chrono::seconds kPatience{20};

/// An empty file to stand for a store, in a directory of its own.
class TempStore {
 public:
  TempStore() {
    std::string pattern = (std::filesystem::temp_directory_path() / "bell_XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
    std::ofstream{path()} << "x";
  }
  TempStore(const TempStore&) = delete;
  TempStore& operator=(const TempStore&) = delete;
  ~TempStore() { std::filesystem::remove_all(directory_); }
  [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }
  [[nodiscard]] std::string path() const { return (directory_ / "store.db").string(); }
  [[nodiscard]] std::string bell() const { return path() + "-bell"; }

 private:
  std::filesystem::path directory_;
};

/// Holds the locks of places [first, first + count) of a bell file, as their living writers would.
class HeldPlaces {
 public:
  HeldPlaces(const std::string& bell, std::size_t first, std::size_t count)
      : fd_{::open(bell.c_str(), O_RDWR | O_CLOEXEC)} {
    struct flock range{};
    range.l_type = F_WRLCK;
    range.l_whence = SEEK_SET;
    range.l_start = 1 + static_cast<off_t>(first);
    range.l_len = static_cast<off_t>(count);
    EXPECT_EQ(::fcntl(fd_, F_OFD_SETLK, &range), 0);
  }
  HeldPlaces(const HeldPlaces&) = delete;
  HeldPlaces& operator=(const HeldPlaces&) = delete;
  ~HeldPlaces() { ::close(fd_); }

 private:
  int fd_;
};

/// Counts calls, and waits for them.
class Calls {
 public:
  WatchCallback counting() {
    return [this] {
      const std::lock_guard guard{mutex_};
      ++count_;
      changed_.notify_all();
    };
  }
  bool reach(std::size_t count) {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, kPatience, [&] { return count_ >= count; });
  }
  std::size_t count() {
    const std::lock_guard guard{mutex_};
    return count_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t count_ = 0;
};

/// A child process that runs `body` once go() is called. Made before the test starts threads.
class Child {
 public:
  template <typename Body>
  explicit Child(Body body) {
    int ends[2] = {};
    if (::pipe(ends) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(ends[1]);
      char byte = 0;
      if (::read(ends[0], &byte, 1) != 1) ::_exit(100);  // the parent has gone
      ::_exit(body());
    }
    ::close(ends[0]);
    go_ = ends[1];
  }
  Child(Child&& other) noexcept
      : pid_{std::exchange(other.pid_, -1)}, go_{std::exchange(other.go_, -1)} {}
  Child& operator=(Child&&) = delete;
  ~Child() {
    if (go_ >= 0) ::close(go_);
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      (void)status();
    }
  }
  void go() const { (void)!::write(go_, "g", 1); }
  void kill() const { ::kill(pid_, SIGKILL); }
  /// Waits for its end: what `body` returned, or -signal.
  int status() {
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  int go_ = -1;
};

/// How often the threads of this process whose name begins with "holdfast-" went to sleep by
/// themselves, as the kernel counts it.
inline std::uint64_t sleeps_of_watching_threads() {
  std::uint64_t total = 0;
  for (const auto& task : std::filesystem::directory_iterator{"/proc/self/task"}) {
    std::ifstream status{task.path() / "status"};
    std::string line;
    bool ours = false;
    while (std::getline(status, line)) {
      if (line.starts_with("Name:")) ours = line.find("holdfast-") != std::string::npos;
      constexpr std::string_view kSwitches = "voluntary_ctxt_switches:";
      if (ours && line.starts_with(kSwitches)) total += std::stoull(line.substr(kSwitches.size()));
    }
  }
  return total;
}

/// Nanoseconds of CPU that those threads have used.
inline std::uint64_t cpu_ns_of_watching_threads() {
  std::uint64_t total = 0;
  for (const auto& task : std::filesystem::directory_iterator{"/proc/self/task"}) {
    std::string name;
    std::getline(std::ifstream{task.path() / "comm"}, name);
    std::uint64_t ns = 0;
    if (name.starts_with("holdfast-") && std::ifstream{task.path() / "schedstat"} >> ns)
      total += ns;
  }
  return total;
}

}  // namespace holdfast::store::testing
