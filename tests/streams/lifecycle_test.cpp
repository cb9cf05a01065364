// A stream's life: making, finding, ending, expiring; what is refused at the door.
#include "streams_fixture.h"

namespace holdfast::suite {
namespace {

using namespace std::chrono_literals;

class StreamLifecycle : public StreamSuite {};

TEST_P(StreamLifecycle, IsBornWithItsChunksAndClosedInOneCommit) {
  const auto cost = cost_of([&] {
    const auto made = ok(streams().create(
        "s", {.content_type = "text/plain", .chunks = {"a", "b"}, .closed = true}));
    EXPECT_TRUE(made.created);
  });
  EXPECT_EQ(cost.commits, 1u);
  const Stream stream = ok(streams().open("s"));
  const Chunks chunks = ok(stream.read());
  EXPECT_EQ(texts(chunks), (Texts{"a", "b"}));
  EXPECT_TRUE(chunks.closed);
  const StreamInfo info = ok(stream.info());
  EXPECT_EQ(info.tail, Offset{2});
  EXPECT_EQ(info.bytes, 2u);
  EXPECT_TRUE(info.closed);
  EXPECT_EQ(info.created, clock().now());
  EXPECT_FALSE(ok(streams().create("s", {.content_type = "text/plain", .closed = true})).created);
  EXPECT_FALSE(ok(streams().create("s", {.content_type = "text/plain"})).created);
  make("open");
  refused(streams().create("open", {.closed = true}), ErrorCode::kAlreadyExists);
}

TEST_P(StreamLifecycle, AClosedStreamTakesNoMoreAndSaysWhereItEnds) {
  Stream stream = make_filled("s", 3);
  const AppendOptions last{.close = true};
  EXPECT_TRUE(ok(stream.append("end", last)).closed);
  EXPECT_EQ(refused(stream.append("more"), ErrorCode::kClosed).actual, 4u);
  EXPECT_EQ(ok(stream.close()).next, Offset{4}) << "closing twice is no error";
  EXPECT_EQ(all(stream), (Texts{"0", "1", "2", "end"}));
}

TEST_P(StreamLifecycle, ADeletedStreamIsGoneForEveryHandleAlsoWhenItIsMadeAgain) {
  Stream old = make_filled("s", 3);
  // As another process would: with caches of its own.
  Streams other{store(), clock(), Random{8}};
  Stream seen = ok(other.open("s"));
  ok(seen.append("3"));
  ok(streams().remove("s"));
  refused(old.append("x"), ErrorCode::kNotFound);
  refused(seen.append("x"), ErrorCode::kNotFound);
  refused(seen.read(), ErrorCode::kNotFound);
  refused(seen.tail(), ErrorCode::kNotFound);
  refused(streams().remove("s"), ErrorCode::kNotFound);
  Stream again = make("s");
  refused(old.append("x"), ErrorCode::kNotFound);
  refused(seen.append("x"), ErrorCode::kNotFound);
  refused(seen.info(), ErrorCode::kNotFound);
  ok(again.append("new"));
  EXPECT_EQ(all(ok(other.open("s"))), (Texts{"new"}));
}

TEST_P(StreamLifecycle, RemovingLeavesNothing) {
  Stream stream = make("s", {.ttl = 10s, .retention = {.chunks_max = 5}});
  for (std::uint64_t i = 0; i < 3; ++i) {
    ok(stream.append("x", {.producer = Producer{"p" + std::to_string(i), 0, 0}}));
  }
  ok(stream.append("y", {.stream_seq = "1"}));
  ok(streams().remove("s"));
  clock().advance_ms(100'000);
  EXPECT_FALSE(ok(streams().sweep()).has_value());
  EXPECT_EQ(leftovers(store()), Texts{});
}

TEST_P(StreamLifecycle, E5_NamesCannotLeaveTheirPlace) {
  for (const std::string& name : {std::string{""}, std::string{"../x"}, std::string{"a//b"},
                                  std::string{"a\0b", 3}, std::string(513, 'x')}) {
    refused(streams().create(name), ErrorCode::kInvalidArgument);
    refused(streams().open(name), ErrorCode::kInvalidArgument);
    refused(streams().remove(name), ErrorCode::kInvalidArgument);
    refused(streams().fork("s", name), ErrorCode::kInvalidArgument);
  }
}

TEST_P(StreamLifecycle, E3_JsonStreamsTakeOnlyJson) {
  Stream stream = make("s", {.content_type = "application/json"});
  const BytesView mixed[] = {"{\"a\":1}", "[1,NaN]"};
  const Error error = refused(stream.append(mixed), ErrorCode::kInvalidArgument);
  EXPECT_NE(error.message.find("chunk 2 of 2"), std::string::npos) << error.message;
  EXPECT_EQ(error.actual, 3u) << "the byte";
  EXPECT_EQ(ok(stream.tail()).tail, Offset{0}) << "nothing of a refused append is kept";
  refused(stream.append("\"\xff\""), ErrorCode::kInvalidArgument);
  refused(streams().create("t", {.content_type = "application/json", .chunks = {"{"}}),
          ErrorCode::kInvalidArgument);
  refused(streams().open("t"), ErrorCode::kNotFound);
  Stream bytes = make("bytes");
  const std::string odd{"\0\xff\n", 3};
  ok(bytes.append(odd));
  EXPECT_EQ(all(bytes), (Texts{odd})) << "other streams keep any bytes exactly";
}

TEST_P(StreamLifecycle, AppendsThatDisagreeAreRefused) {
  Stream stream = make("s", {.content_type = "text/plain"});
  refused(stream.append("x", {.content_type = "application/json"}), ErrorCode::kConflict);
  ok(stream.append("x", {.content_type = "TEXT/plain;charset=utf-8"}));
  refused(stream.append(std::span<const BytesView>{}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(refused(stream.append("x", {.expected_tail = Offset{5}}), ErrorCode::kStale).actual,
            1u);
  ok(stream.append("y", {.expected_tail = Offset{1}}));
}

TEST_P(StreamLifecycle, ATtlSlidesWithReadsAndAppendsButNotWithLooking) {
  Stream stream = make("s", {.ttl = 8s});
  for (int i = 0; i < 5; ++i) {
    clock().advance_ms(7'000);
    ok(stream.append("x"));
    clock().advance_ms(7'000);
    ok(stream.read({.from = From::tail()}));
  }
  clock().advance_ms(7'900);
  ok(stream.info());
  ok(stream.tail());
  ok(streams().open("s"));
  // Within the slack it may live on; after it, it does not.
  clock().advance_ms(1'200);
  refused(stream.info(), ErrorCode::kNotFound);
  refused(stream.append("x"), ErrorCode::kNotFound);
  refused(stream.read(), ErrorCode::kNotFound);
  refused(streams().open("s"), ErrorCode::kNotFound);
  EXPECT_TRUE(ok(streams().list()).streams.empty());
  EXPECT_TRUE(ok(streams().create("s", {.content_type = "text/html"})).created)
      << "its name is free at once";
}

TEST_P(StreamLifecycle, AnotherProcessesUseKeepsAStreamAlive) {
  Stream stream = make("s", {.ttl = 8s});
  Streams other{store(), clock(), Random{8}};
  Stream seen = ok(other.open("s"));
  for (int i = 0; i < 10; ++i) {
    clock().advance_ms(7'000);
    ok(seen.read());
  }
  ok(stream.append("still here"));
  EXPECT_GT(ok(streams().sweep())->ms, clock().now().ms);
  ok(streams().open("s"));
}

TEST_P(StreamLifecycle, SweepEndsWhatHasExpiredAndSaysWhenNext) {
  make("short", {.ttl = 1s});
  make("long", {.ttl = 100s});
  make("moment", {.expires_at = Timestamp{clock().now().ms + 50'000}});
  make("ever");
  EXPECT_EQ(ok(streams().sweep())->ms, clock().now().ms + 1'125);
  clock().advance_ms(60'000);
  EXPECT_TRUE(ok(streams().sweep()).has_value());
  clock().advance_ms(60'000);
  EXPECT_FALSE(ok(streams().sweep()).has_value());
  const StreamPage page = ok(streams().list());
  ASSERT_EQ(page.streams.size(), 1u);
  EXPECT_EQ(page.streams[0].name, "ever");
  EXPECT_EQ(ok(store().logs({}, 10)).size(), 1u);
}

TEST_P(StreamLifecycle, SweepCostsWhatIsDueNotWhatThereIs) {
  std::uint64_t costs[2] = {};
  for (const std::size_t round : {0u, 1u}) {
    for (std::size_t i = 0; i < (round == 0 ? 5u : 500u); ++i)
      make("s" + std::to_string(round) + "/" + std::to_string(i), {.ttl = 1'000s});
    costs[round] = cost_of([&] { ok(streams().sweep()); }).rows_read;
  }
  EXPECT_EQ(costs[0], costs[1]);
}

TEST_P(StreamLifecycle, E4_AClockThatJumpsBackChangesNeitherOrderNorLatest) {
  Stream stream = make("s", {.ttl = 10s});
  ok(stream.append("1"));
  clock().advance_ms(-1'000'000);
  ok(stream.append("2"));
  ok(stream.read());
  clock().advance_ms(500'000);
  ok(stream.append("3"));
  ok(streams().sweep());
  EXPECT_EQ(all(stream), (Texts{"1", "2", "3"}));
  EXPECT_EQ(texts(ok(stream.read({.from = From::last(1)}))), (Texts{"3"}));
}

TEST_P(StreamLifecycle, ListsByNamePagedAndByPrefix) {
  for (const char* name : {"b/2", "a", "b/1", "b/3", "c"}) make(name);
  ok(streams().remove("b/2"));
  const auto names = [](const StreamPage& page) {
    Texts out;
    for (const StreamInfo& info : page.streams) out.push_back(info.name);
    return out;
  };
  EXPECT_EQ(names(ok(streams().list())), (Texts{"a", "b/1", "b/3", "c"}));
  EXPECT_EQ(names(ok(streams().list("b/"))), (Texts{"b/1", "b/3"}));
  const StreamPage page = ok(streams().list({}, {}, 3));
  EXPECT_EQ(names(page), (Texts{"a", "b/1", "b/3"}));
  EXPECT_EQ(page.next_after, "b/3");
  const StreamPage rest = ok(streams().list({}, page.next_after, 3));
  EXPECT_EQ(names(rest), (Texts{"c"}));
  EXPECT_EQ(rest.next_after, "");
}

TEST_P(StreamLifecycle, TheListCanBeWatched) {
  std::atomic<int> changes{0};
  const Watch watch = ok(streams().watch_list([&] {
    ++changes;
    changes.notify_all();
  }));
  make("s");
  changes.wait(0);
  const int made = changes;
  ok(streams().remove("s"));
  changes.wait(made);
  EXPECT_GT(changes, made);
}

HOLDFAST_OVER_ALL_STORES(StreamLifecycle);

}  // namespace
}  // namespace holdfast::suite
