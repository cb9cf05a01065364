// Many followers on one thread with Boost.Asio: nothing blocks, nothing polls.
#include <cstdio>
#include <string>
#include <thread>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <holdfast/asio.h>
#include <holdfast/stream.h>

namespace asio = boost::asio;

namespace {

asio::awaitable<void> count(holdfast::Follower follower, int& chunks) {
  while (auto chunk = co_await holdfast::async_next(follower)) ++chunks;
}

}  // namespace

int main() {
  const auto store = holdfast::make_memory_store();
  holdfast::Streams streams{*store};
  auto made = streams.create("busy");
  if (!made) return 1;
  holdfast::Stream stream = made->stream;

  asio::io_context loop;
  int chunks = 0;
  for (int i = 0; i < 100; ++i) {
    auto follower = stream.follow();
    if (!follower) return 1;
    asio::co_spawn(loop, count(std::move(*follower), chunks), asio::detached);
  }
  std::thread writer{[&] {
    for (int i = 0; i < 1'000; ++i) (void)stream.append(std::to_string(i));
    (void)stream.close();
  }};
  loop.run();  // until every follower has seen the end
  writer.join();
  std::printf("100 followers took %d chunks of 1000 appended\n", chunks);
  return chunks == 100 * 1'000 ? 0 : 1;
}
