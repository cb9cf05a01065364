// The parent's side of a kill test: worker processes and what they say.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::kill {

/// One worker and its pipe. Killed when destroyed.
class Worker {
 public:
  /// Starts the program with these arguments.
  Worker(const std::string& program, const std::vector<std::string>& arguments);
  Worker(Worker&& other) noexcept;
  Worker& operator=(Worker&& other) noexcept;
  ~Worker();

  /// Sends SIGKILL and waits for the end.
  void kill();
  [[nodiscard]] bool alive() const { return pid_ > 0; }
  [[nodiscard]] int pipe() const { return pipe_; }
  /// Takes what is in the pipe, and gives each whole line to `line`. False at the pipe's end.
  bool drain(const std::function<void(std::string_view)>& line);

 private:
  void close();
  pid_t pid_ = -1;
  int pipe_ = -1;
  std::string partial_;
};

}  // namespace holdfast::kill
