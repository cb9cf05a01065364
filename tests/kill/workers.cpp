#include "kill/workers.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <utility>

namespace holdfast::kill {

Worker::Worker(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  int ends[2] = {};
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error{"no pipe"};
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::execv(program.c_str(), argv.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  pipe_ = ends[0];
  ::fcntl(pipe_, F_SETFL, O_NONBLOCK);
}

Worker::Worker(Worker&& other) noexcept
    : pid_{std::exchange(other.pid_, -1)},
      pipe_{std::exchange(other.pipe_, -1)},
      partial_{std::move(other.partial_)} {}

Worker& Worker::operator=(Worker&& other) noexcept {
  if (this == &other) return *this;
  close();
  pid_ = std::exchange(other.pid_, -1);
  pipe_ = std::exchange(other.pipe_, -1);
  partial_ = std::move(other.partial_);
  return *this;
}

Worker::~Worker() { close(); }

void Worker::close() {
  kill();
  if (pipe_ >= 0) ::close(std::exchange(pipe_, -1));
}

void Worker::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  int status = 0;
  ::waitpid(std::exchange(pid_, -1), &status, 0);
}

bool Worker::drain(const std::function<void(std::string_view)>& line) {
  char buffer[65'536];
  for (;;) {
    const ssize_t count = ::read(pipe_, buffer, sizeof buffer);
    if (count == 0) return false;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno == EAGAIN;
    partial_.append(buffer, static_cast<std::size_t>(count));
    std::size_t at = 0;
    for (std::size_t end = partial_.find('\n'); end != std::string::npos;
         end = partial_.find('\n', at)) {
      line(std::string_view{partial_}.substr(at, end - at));
      at = end + 1;
    }
    partial_.erase(0, at);
  }
}

}  // namespace holdfast::kill
