#include "machine.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <string>
#include <thread>

#include "harness.h"

namespace holdfast::bench {
namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kPagesMax = 1024;  // then from the start again, as a write-ahead log does

struct Shared {
  std::atomic<std::uint32_t> turn{0};
  std::atomic<double> sent_us{0};
};

void wait_for(std::atomic<std::uint32_t>& word, std::uint32_t wanted) {
  for (auto seen = word.load(); seen != wanted; seen = word.load()) {
    syscall(SYS_futex, &word, FUTEX_WAIT, seen, nullptr, nullptr, 0);
  }
}

void set_and_wake(std::atomic<std::uint32_t>& word, std::uint32_t value) {
  word.store(value);
  syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

std::pair<int, int> connected_pair(int listener, const sockaddr_in& address) {
  const int out = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  // The socket interface takes its addresses as this type.
  if (connect(out, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    give_up("the loopback interface refuses a connection");
  }
  const int in = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  const int on = 1;
  setsockopt(out, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return {out, in};
}

}  // namespace

RawLog::RawLog(const std::filesystem::path& path)
    : file_{open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)} {
  if (file_ < 0) give_up("cannot write " + path.string());
  const std::array<char, kPageBytes> page{};
  for (std::size_t i = 0; i < kPagesMax; ++i) {
    if (write(file_, page.data(), page.size()) < 0) give_up("cannot write " + path.string());
  }
  fsync(file_);
}

RawLog::~RawLog() { close(file_); }

void RawLog::append(bool sync) {
  std::array<char, kPageBytes> page{};
  page[0] = static_cast<char>(pages_ & 0x7f);
  const auto at = static_cast<off_t>(pages_++ % kPagesMax * kPageBytes);
  if (pwrite(file_, page.data(), page.size(), at) < 0) give_up("a raw write failed");
  if (sync && fdatasync(file_) != 0) give_up("a raw fdatasync failed");
}

double memcpy_cpu_us(std::size_t bytes) {
  const std::string from(bytes, 'x');
  std::string to(bytes, 'y');
  const auto began = thread_cpu_us();
  std::memcpy(to.data(), from.data(), bytes);
  const auto spent = thread_cpu_us() - began;
  if (to.back() != 'x') give_up("memory does not keep what it is given");
  return spent;
}

std::vector<double> futex_ping_us(int count) {
  void* memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) give_up("no shared memory");
  auto& shared = *new (memory) Shared;
  std::vector<double> samples;
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < count; ++i) {
      wait_for(shared.turn, static_cast<std::uint32_t>(2 * i + 1));
      const double took = wall_us() - shared.sent_us.load();
      shared.sent_us.store(took);
      set_and_wake(shared.turn, static_cast<std::uint32_t>(2 * i + 2));
    }
    _exit(0);
  }
  for (int i = 0; i < count; ++i) {
    usleep(500);  // lets the other side go to sleep, as a follower that waits does
    shared.sent_us.store(wall_us());
    set_and_wake(shared.turn, static_cast<std::uint32_t>(2 * i + 1));
    wait_for(shared.turn, static_cast<std::uint32_t>(2 * i + 2));
    samples.push_back(shared.sent_us.load());
  }
  waitpid(child, nullptr, 0);
  munmap(memory, sizeof(Shared));
  return samples;
}

std::vector<double> tcp_fan_out_us(int connections, std::size_t bytes, int count) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      listen(listener, 1024) != 0 ||
      getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    give_up("cannot listen on the loopback interface");
  }
  const int poll = epoll_create1(EPOLL_CLOEXEC);
  std::vector<int> writers;
  std::vector<int> readers;
  for (int i = 0; i < connections; ++i) {
    const auto [out, in] = connected_pair(listener, address);
    epoll_event event{.events = EPOLLIN, .data = {.fd = in}};
    epoll_ctl(poll, EPOLL_CTL_ADD, in, &event);
    writers.push_back(out);
    readers.push_back(in);
  }
  const std::string message(bytes, 'x');
  std::vector<double> samples;
  for (int round = 0; round < count; ++round) {
    const auto began = wall_us();
    std::jthread sender{[&] {
      for (const int out : writers) {
        if (send(out, message.data(), message.size(), 0) < 0) give_up("a loopback send failed");
      }
    }};
    std::array<epoll_event, 256> events{};
    std::string read_buffer(bytes, '\0');
    for (int seen = 0; seen < connections;) {
      const int ready = epoll_wait(poll, events.data(), static_cast<int>(events.size()), 5000);
      if (ready <= 0) give_up("loopback messages went missing");
      for (int i = 0; i < ready; ++i) {
        recv(events[static_cast<std::size_t>(i)].data.fd, read_buffer.data(), bytes, 0);
      }
      seen += ready;
    }
    samples.push_back(wall_us() - began);
  }
  for (const int file : writers) close(file);
  for (const int file : readers) close(file);
  close(poll);
  close(listener);
  return samples;
}

}  // namespace holdfast::bench
