#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include <holdfast/stream.h>

namespace holdfast {
namespace {

class StreamsTest : public testing::Test {
 protected:
  Stream make(std::string_view name, const StreamOptions& options = {}) {
    auto made = streams.create(name, options);
    EXPECT_TRUE(made.has_value()) << made.error().message;
    return made->stream;
  }
  static std::vector<std::string> texts(const Chunks& chunks) {
    std::vector<std::string> out;
    for (const Chunk& chunk : chunks.items) out.emplace_back(chunk.bytes);
    return out;
  }

  ManualClock clock;
  std::unique_ptr<Store> store = make_memory_store(clock);
  Streams streams{*store, clock, Random{1}};
};

using Texts = std::vector<std::string>;

TEST_F(StreamsTest, WhatIsAppendedIsReadFromEveryPlace) {
  Stream stream = make("chat/1");
  ASSERT_TRUE(stream.append("a"));
  const BytesView more[] = {"b", "c"};
  const auto appended = stream.append(more);
  ASSERT_TRUE(appended);
  EXPECT_EQ(appended->first, Offset{1});
  EXPECT_EQ(appended->next, Offset{3});
  EXPECT_EQ(texts(*stream.read()), (Texts{"a", "b", "c"}));
  EXPECT_EQ(texts(*stream.read({.from = Offset{1}})), (Texts{"b", "c"}));
  EXPECT_EQ(texts(*stream.read({.from = From::last(1)})), (Texts{"c"}));
  EXPECT_EQ(texts(*stream.read({.from = From::last(100)})), (Texts{"a", "b", "c"}));
  const auto end = stream.read({.from = From::tail()});
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->items.empty());
  EXPECT_TRUE(end->at_tail);
  EXPECT_FALSE(end->closed);
  const auto beyond = stream.read({.from = Offset{4}});
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().code, ErrorCode::kInvalidArgument);
}

TEST_F(StreamsTest, CreatingTwiceIsOneStream) {
  ASSERT_TRUE(streams.create("s", {.content_type = "text/plain"})->created);
  EXPECT_FALSE(streams.create("s", {.content_type = "Text/Plain; charset=utf-8"})->created);
  EXPECT_EQ(streams.create("s", {.content_type = "text/html"}).error().code,
            ErrorCode::kAlreadyExists);
  EXPECT_EQ(streams.create("s", {.content_type = "text/plain", .closed = true}).error().code,
            ErrorCode::kAlreadyExists);
}

TEST_F(StreamsTest, AFollowerReadsWhatIsThereThenWaits) {
  Stream stream = make("s");
  ASSERT_TRUE(stream.append("1"));
  auto follower = stream.follow();
  ASSERT_TRUE(follower);
  std::vector<std::string> seen;
  std::thread reader{[&] {
    while (auto chunk = follower->next()) seen.emplace_back(chunk->bytes);
  }};
  for (int i = 2; i <= 50; ++i) ASSERT_TRUE(stream.append(std::to_string(i)));
  ASSERT_TRUE(stream.close());
  reader.join();
  ASSERT_EQ(seen.size(), 50u);
  for (int i = 1; i <= 50; ++i) EXPECT_EQ(seen[static_cast<std::size_t>(i - 1)], std::to_string(i));
  EXPECT_TRUE(follower->closed());
  EXPECT_TRUE(follower->ended());
  EXPECT_EQ(follower->error(), nullptr);
}

TEST_F(StreamsTest, ForksShareThePastAndNothingElse) {
  Stream source = make("a", {.content_type = "text/plain"});
  for (const char* text : {"0", "1", "2"}) ASSERT_TRUE(source.append(text));
  auto fork = streams.fork("a", "b", {.at = Offset{2}});
  ASSERT_TRUE(fork) << fork.error().message;
  ASSERT_TRUE(fork->stream.append("B"));
  ASSERT_TRUE(source.append("3"));
  EXPECT_EQ(texts(*fork->stream.read()), (Texts{"0", "1", "B"}));
  EXPECT_EQ(texts(*source.read()), (Texts{"0", "1", "2", "3"}));
  ASSERT_TRUE(streams.remove("a"));
  EXPECT_EQ(streams.open("a").error().code, ErrorCode::kGone);
  EXPECT_EQ(texts(*fork->stream.read()), (Texts{"0", "1", "B"}));
  ASSERT_TRUE(streams.remove("b"));
  EXPECT_EQ(streams.open("a").error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(store->logs({}, 10)->empty()) << "the last fork takes what was kept for it along";
}

}  // namespace
}  // namespace holdfast
