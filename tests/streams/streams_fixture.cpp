#include "streams_fixture.h"

#include <holdfast/random.h>

namespace holdfast::suite {

Texts leftovers(Store& store) {
  Texts left;
  for (const std::string_view space :
       {engine::kStreamSpace, engine::kDeadlineSpace, engine::kProducerSpace, engine::kSeqSpace,
        engine::kPinSpace, engine::kBirthSpace, engine::kDueSpace, engine::kOutboxSpace,
        engine::kImportSpace}) {
    for (const Row& row : ok(store.scan(space, {}, 10'000)))
      left.push_back(std::string{space} + ": " + row.key);
  }
  for (const LogKey& log : ok(store.logs({}, 10'000))) left.push_back("log: " + log.home);
  return left;
}

Texts make_session(std::size_t lines, std::uint64_t seed) {
  Random random{seed};
  Texts out;
  for (std::size_t turn = 1; out.size() < lines; ++turn) {
    const std::string id = "\"turn\":\"turn_" + std::to_string(turn) + "\"";
    out.push_back("{\"type\":\"turn_start\"," + id + "}");
    out.push_back("{\"type\":\"user_message\"," + id + ",\"text\":\"What about \\\"it\\\"?\"}");
    for (const char* part : {"reasoning_delta", "text_delta"}) {
      for (std::uint64_t deltas = 20 + random.below(200); deltas > 0; --deltas) {
        out.push_back("{\"type\":\"" + std::string{part} + "\"," + id + ",\"delta\":\"word" +
                      std::to_string(random.below(1'000)) + "\\n \"}");
      }
    }
    out.push_back("{\"type\":\"turn_end\"," + id + "}");
  }
  out.resize(lines);
  return out;
}

Stream StreamSuite::make_filled(std::string_view name, std::size_t count) {
  Stream stream = make(name);
  for (std::size_t at = 0; at < count;) {
    Texts batch;
    for (; at < count && batch.size() < 1'000; ++at) batch.push_back(std::to_string(at));
    const std::vector<BytesView> views{batch.begin(), batch.end()};
    ok(stream.append(views));
  }
  return stream;
}

Texts StreamSuite::all(const Stream& stream, const ReadLimits& limits) {
  Texts out;
  From from;
  for (;;) {
    const Chunks page = ok(stream.read({.from = from, .limits = limits}));
    for (auto& text : texts(page)) out.push_back(std::move(text));
    from = page.next;
    if (page.at_tail) return out;
  }
}

StreamSuite::Cost StreamSuite::cost_of(const std::function<void()>& work) {
  const StoreStats before = store().stats();
  work();
  const StoreStats after = store().stats();
  return {after.commits - before.commits, after.reads - before.reads,
          after.rows_read - before.rows_read, after.records_read - before.records_read,
          after.bytes_read - before.bytes_read};
}

}  // namespace holdfast::suite
