#include <cstdio>

#include <holdfast/sqlite_store.h>
#include <holdfast/stream.h>

int main() {
  auto store = holdfast::open_sqlite_store("quickstart.db");
  if (!store) return std::fprintf(stderr, "%s\n", store.error().message.c_str()), 1;

  holdfast::Streams streams{**store};
  auto chat = streams.create("chat/1")->stream;  // or finds it: run this twice
  chat.append("Is it raining in Oslo?").value();
  auto last = chat.append("It is. Take a coat.").value();  // on the disk when this returns

  auto follower = chat.follow().value();  // from the beginning; {.from = cursor} resumes
  while (auto chunk = follower.next()) {  // waits for the next chunk, at no cost
    std::printf("%.*s\n", static_cast<int>(chunk->bytes.size()), chunk->bytes.data());
    if (chunk->next == last.next) break;
  }
}
