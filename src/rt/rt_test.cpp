#include <sys/socket.h>

#include <array>
#include <atomic>
#include <future>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "rt/deadlines.h"
#include "rt/loop.h"
#include "rt/tcp.h"
#include "rt/worker_pool.h"

namespace holdfast::rt {
namespace {

using namespace std::chrono_literals;

TEST(Loop, RunsPostedTasksInOrderUntilStopped) {
  Loop loop;
  std::vector<int> seen;
  loop.post([&] { seen.push_back(1); });
  loop.post([&] { seen.push_back(2); });
  loop.post([&] { loop.stop(); });
  loop.run();
  EXPECT_EQ(seen, (std::vector<int>{1, 2}));
}

TEST(Loop, TakesTasksFromOtherThreads) {
  Loop loop;
  std::atomic<int> ran{0};
  std::thread other{[&] {
    for (int i = 0; i < 1'000; ++i) loop.post([&] { ++ran; });
    loop.post([&] { loop.stop(); });
  }};
  loop.run();
  other.join();
  EXPECT_EQ(ran.load(), 1'000);
}

struct Recorder final : SocketEvents {
  explicit Recorder(Loop& owner) : loop{owner} {}
  void readable() override {
    ++reads;
    loop.stop();
  }
  void writable() override {
    ++writes;
    loop.stop();
  }
  Loop& loop;
  int reads = 0;
  int writes = 0;
};

struct Pair {
  Pair() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()), 0); }
  std::array<int, 2> fds{};
};

TEST(Socket, TellsOnceForEachWaitThatBytesAreThere) {
  Loop loop;
  Pair pair;
  Socket near{loop, pair.fds[0]};
  Socket far{loop, pair.fds[1]};
  Recorder recorder{loop};
  near.set_events(&recorder);
  near.wait_readable();
  near.wait_readable();
  EXPECT_EQ(near.peek().kind, IoResult::Kind::kWouldBlock);
  const std::array<std::string_view, 2> pieces{"ab", "c"};
  EXPECT_EQ(far.write(pieces).bytes, 3u);
  loop.run();
  EXPECT_EQ(recorder.reads, 1);
  std::array<char, 8> buffer{};
  EXPECT_EQ(near.read(buffer.data(), buffer.size()).bytes, 3u);
  EXPECT_EQ(std::string(buffer.data(), 3), "abc");
}

TEST(Socket, TellsOfThePeersEnd) {
  Loop loop;
  Pair pair;
  Socket near{loop, pair.fds[0]};
  Recorder recorder{loop};
  near.set_events(&recorder);
  near.wait_readable();
  Socket{loop, pair.fds[1]}.close();
  loop.run();
  EXPECT_EQ(near.peek().kind, IoResult::Kind::kEof);
}

TEST(Socket, OneThatWasDestroyedMakesNoCall) {
  Loop loop;
  Pair pair;
  Recorder recorder{loop};
  Socket far{loop, pair.fds[1]};
  {
    Socket near{loop, pair.fds[0]};
    near.set_events(&recorder);
    near.wait_readable();
    const std::array<std::string_view, 1> pieces{"x"};
    EXPECT_EQ(far.write(pieces).bytes, 1u);
  }
  loop.poll();
  loop.poll();
  EXPECT_EQ(recorder.reads, 0);
}

TEST(Socket, AFullOneSaysSoAndTellsWhenThereIsRoom) {
  Loop loop;
  Pair pair;
  Socket near{loop, pair.fds[0]};
  Socket far{loop, pair.fds[1]};
  Recorder recorder{loop};
  near.set_events(&recorder);
  const std::string block(1u << 16, 'x');
  const std::array<std::string_view, 1> pieces{block};
  std::size_t written = 0;
  for (;;) {
    const IoResult result = near.write(pieces);
    if (result.kind == IoResult::Kind::kWouldBlock) break;
    ASSERT_EQ(result.kind, IoResult::Kind::kDone);
    written += result.bytes;
  }
  near.wait_writable();
  std::string sink(1u << 16, 0);
  std::size_t read = 0;
  while (read < written) read += far.read(sink.data(), sink.size()).bytes;
  loop.run();
  EXPECT_EQ(recorder.writes, 1);
}

TEST(Listener, PicksAFreePortAndHandsOverConnections) {
  Loop loop;
  auto listening = listen_tcp("127.0.0.1", 0);
  ASSERT_TRUE(listening) << listening.error().message;
  EXPECT_NE(listening->port, 0);
  EXPECT_TRUE(listening->loopback);
  std::string remote;
  Listener listener{loop, listening->fd, [&](int fd, std::string_view from) {
                      Socket{loop, fd}.close();
                      remote = from;
                      loop.stop();
                    }};
  auto second = listen_tcp("127.0.0.1", listening->port);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kIo);
  std::thread client{[port = listening->port] {
    Loop own;
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_TRUE(connect_tcp(fd, port));
    Socket{own, fd}.close();
  }};
  loop.run();
  client.join();
  EXPECT_TRUE(remote.starts_with("127.0.0.1:")) << remote;
}

TEST(Listener, RefusesWhatIsNoAddress) {
  for (const char* address : {"example.com", "", "127.0.0.1.1", "::g"}) {
    auto listening = listen_tcp(address, 0);
    ASSERT_FALSE(listening) << address;
    EXPECT_EQ(listening.error().code, ErrorCode::kInvalidArgument);
  }
  EXPECT_TRUE(is_loopback("127.9.9.9"));
  EXPECT_TRUE(is_loopback("::1"));
  EXPECT_TRUE(is_loopback("localhost"));
  EXPECT_FALSE(is_loopback("0.0.0.0"));
}

struct Counted final : Due {
  explicit Counted(std::vector<int>& all, int number) : fired{all}, id{number} {}
  void due() override { fired.push_back(id); }
  std::vector<int>& fired;
  int id;
};

TEST(Deadlines, FireInOrderAndLeaveOutWhatWasRemovedOrRenewed) {
  Loop loop;
  std::vector<int> fired;
  Deadlines deadlines{loop, 20ms};
  Counted first{fired, 1};
  Counted second{fired, 2};
  Counted third{fired, 3};
  auto gone = std::make_unique<Counted>(fired, 4);
  deadlines.add(first);
  deadlines.add(second);
  deadlines.add(third);
  deadlines.add(*gone);
  deadlines.add(first);
  Deadlines::remove(second);
  gone.reset();
  Timer stop{loop, [&] { loop.stop(); }};
  stop.arm(Loop::now() + 200ms);
  loop.run();
  EXPECT_EQ(fired, (std::vector<int>{3, 1}));
  EXPECT_TRUE(deadlines.empty());
}

TEST(Timer, ArmingAgainMovesItAndCancellingEndsIt) {
  Loop loop;
  int fired = 0;
  Timer timer{loop, [&] { ++fired; }};
  Timer cancelled{loop, [&] { fired += 100; }};
  timer.arm(Loop::now() + 10s);
  timer.arm(Loop::now() + 1ms);
  cancelled.arm(Loop::now() + 1ms);
  cancelled.cancel();
  Timer stop{loop, [&] { loop.stop(); }};
  stop.arm(Loop::now() + 50ms);
  loop.run();
  EXPECT_EQ(fired, 1);
}

TEST(WorkerPool, RefusesBeyondItsBoundButTakesUrgentTasks) {
  std::latch begun{1};
  std::promise<void> release;
  std::atomic<int> ran{0};
  WorkerPool pool{{.threads = 1, .queue_max = 2}};
  ASSERT_TRUE(pool.submit([&] {
    begun.count_down();
    release.get_future().wait();
  }));
  begun.wait();
  std::vector<int> order;
  std::latch all{3};
  const auto task = [&](int number) {
    return [&, number] {
      order.push_back(number);
      ++ran;
      all.count_down();
    };
  };
  EXPECT_TRUE(pool.submit(task(1)));
  EXPECT_TRUE(pool.submit(task(2)));
  EXPECT_FALSE(pool.submit(task(3)));
  pool.submit_urgent(task(4));
  EXPECT_EQ(pool.queued(), 3u);
  release.set_value();
  all.wait();
  pool.stop();
  EXPECT_EQ(order, (std::vector<int>{4, 1, 2}));
  EXPECT_FALSE(pool.submit(task(5)));
}

}  // namespace
}  // namespace holdfast::rt
