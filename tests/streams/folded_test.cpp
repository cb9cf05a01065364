// Folded reads: a long session comes as hundreds of lines, and nothing of it is lost or doubled.
#include <holdfast/random.h>

#include "core/stream/fold.h"
#include "streams_fixture.h"

namespace holdfast::suite {
namespace {

class StreamFolding : public StreamSuite {
 protected:
  Stream make_session_stream(std::string_view name, const Texts& lines) {
    Stream stream = make(name, {.content_type = "application/json"});
    for (std::size_t at = 0; at < lines.size();) {
      const std::size_t count = std::min<std::size_t>(500, lines.size() - at);
      const auto from = lines.begin() + static_cast<std::ptrdiff_t>(at);
      const std::vector<BytesView> views{from, from + static_cast<std::ptrdiff_t>(count)};
      ok(stream.append(views));
      at += count;
    }
    return stream;
  }
  // Folds what is folded already: pages may have cut a run in two.
  static Texts refold(const Texts& lines) {
    core::Folder folder;
    for (std::size_t i = 0; i < lines.size(); ++i) folder.push(lines[i], Offset{i}, Offset{i + 1});
    folder.finish();
    Texts out;
    for (const auto& line : folder.lines())
      out.push_back(folder.bytes().substr(line.begin, line.size));
    return out;
  }
};

TEST_P(StreamFolding, ASessionOf24539LinesLoadsAsHundreds) {
  const Texts lines = make_session(24'539, 1);
  const Stream stream = make_session_stream("chat", lines);
  const Chunks folded = ok(stream.read({.limits = {.bytes_max = 16u << 20}, .folded = true}));
  EXPECT_TRUE(folded.at_tail);
  EXPECT_EQ(folded.next, Offset{24'539});
  EXPECT_LT(folded.items.size(), 1'000u);
  EXPECT_GT(folded.items.size(), 100u);
  Offset at;
  for (const Chunk& chunk : folded.items) {
    ASSERT_EQ(chunk.offset, at) << "each line stands for what follows the one before";
    at = chunk.next;
  }
  EXPECT_EQ(at, folded.next);
  EXPECT_EQ(texts(folded), refold(lines));
}

TEST_P(StreamFolding, HoweverItIsPagedTheContentIsTheSame) {
  const Texts lines = make_session(2'000, 2);
  const Stream stream = make_session_stream("chat", lines);
  Random random{4};
  for (int round = 0; round < 40; ++round) {
    Texts paged;
    Offset cursor;
    for (bool end = false; !end;) {
      const ReadLimits limits{.records_max = 1 + random.below(20),
                              .bytes_max = 1 + random.below(5'000)};
      const Chunks page = ok(stream.read({.from = cursor, .limits = limits, .folded = true}));
      ASSERT_LE(page.items.size(), limits.records_max);
      ASSERT_GT(page.next, cursor) << "a page always gets on";
      for (const Chunk& chunk : page.items) {
        ASSERT_EQ(chunk.offset, cursor);
        cursor = chunk.next;
        paged.emplace_back(chunk.bytes);
      }
      ASSERT_EQ(page.next, cursor);
      end = page.at_tail;
    }
    EXPECT_EQ(refold(paged), refold(lines));
  }
}

TEST_P(StreamFolding, ReadingOnFromAFoldedLineMissesNothing) {
  const Texts lines = make_session(3'000, 3);
  Stream stream = make_session_stream("chat", lines);
  const Chunks folded = ok(stream.read({.limits = {.records_max = 7}, .folded = true}));
  ASSERT_EQ(folded.items.size(), 7u);
  Texts rest = all(stream);
  rest.erase(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(folded.next.value));
  Follower follower = ok(stream.follow({.from = folded.items.back().next}));
  for (const std::string& line : rest) EXPECT_EQ(follower.try_next()->bytes, line);
  ok(stream.close());
  EXPECT_TRUE(ok(stream.read({.from = Offset{3'000}, .folded = true})).closed);
}

TEST_P(StreamFolding, OtherStreamsPassUnchanged) {
  Stream stream = make("s");
  const Texts lines = {"plain", "{\"delta\":1}", std::string{"\0\xff", 2}, "", "{\"delta\":\"x"};
  for (const std::string& line : lines) ok(stream.append(line));
  EXPECT_EQ(texts(ok(stream.read({.folded = true}))), lines);
}

HOLDFAST_OVER_ALL_STORES(StreamFolding);

}  // namespace
}  // namespace holdfast::suite
