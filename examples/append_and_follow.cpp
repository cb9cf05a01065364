// A producer that may repeat itself and a follower on another thread. Run it twice: the second run
// sends the same again, and the stream does not grow.
#include <cstdio>
#include <string>
#include <thread>

#include <holdfast/sqlite_store.h>
#include <holdfast/stream.h>

namespace {

int failed(const holdfast::Error& error) {
  std::fprintf(stderr, "%s\n", error.message.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : "append_and_follow.db";
  auto store = holdfast::open_sqlite_store(path, {.durability = holdfast::Durability::kRelaxed});
  if (!store) return failed(store.error());
  holdfast::Streams streams{**store};
  auto made = streams.create("numbers", {.content_type = "text/plain"});
  if (!made) return failed(made.error());
  holdfast::Stream stream = made->stream;

  auto follower = stream.follow();
  if (!follower) return failed(follower.error());
  std::thread reader{[&] {
    // Waits without polling, until the stream is closed.
    while (auto chunk = follower->next()) {
      std::printf("%llu: %.*s\n", static_cast<unsigned long long>(chunk->offset.value),
                  static_cast<int>(chunk->bytes.size()), chunk->bytes.data());
    }
  }};

  for (std::uint64_t seq = 0; seq < 10; ++seq) {
    const std::string text = "number " + std::to_string(seq);
    holdfast::AppendOptions options;
    options.producer = holdfast::Producer{"example", 0, seq};
    options.close = seq == 9;
    const auto appended = stream.append(text, options);
    if (!appended) return follower->stop(), reader.join(), failed(appended.error());
    if (appended->duplicate) std::printf("(%s was there already)\n", text.c_str());
  }
  reader.join();
}
