// What a user's program does with the installed package: keeps a stream, and follows it.
#include <cstdio>

#include <holdfast/sqlite_store.h>
#include <holdfast/stream.h>

int main() {
  auto store = holdfast::open_sqlite_store("consumer.db");
  if (!store) {
    std::fprintf(stderr, "%s\n", store.error().message.c_str());
    return 1;
  }
  holdfast::Streams streams{**store};
  auto stream = streams.create("consumer", {.content_type = "application/json"}).value().stream;
  stream.append(R"({"delta":"hold"})").value();
  stream.append(R"({"delta":"fast"})").value();
  stream.close().value();
  (*store)->seal().value();
  const auto folded = stream.read({.folded = true}).value();
  std::printf("%s", stream.info().value().id.text().c_str());
  for (const auto& chunk : folded.items) {
    std::printf(" %.*s", static_cast<int>(chunk.bytes.size()), chunk.bytes.data());
  }
  std::printf("\n");
  (*store)->compact().value();
  return (*store)->check().value().faults.empty() ? 0 : 1;
}
