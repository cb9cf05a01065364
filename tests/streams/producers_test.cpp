// Producers: what is sent twice is taken once, also by several processes, also without waiting.
#include <latch>
#include <mutex>
#include <set>
#include <thread>

#include "streams_fixture.h"

namespace holdfast::suite {
namespace {

class StreamProducers : public StreamSuite {
 protected:
  static AppendOptions as(std::string id, std::uint64_t epoch, std::uint64_t seq) {
    AppendOptions options;
    options.producer = Producer{std::move(id), epoch, seq};
    return options;
  }
};

TEST_P(StreamProducers, S11_DuplicatesAreRecognisedStaleEpochsFencedGapsRefused) {
  Stream stream = make("s");
  EXPECT_FALSE(ok(stream.append("a", as("p", 0, 0))).duplicate);
  ok(stream.append("b", as("p", 0, 1)));
  const Appended again = ok(stream.append("changed", as("p", 0, 0)));
  EXPECT_TRUE(again.duplicate);
  EXPECT_EQ(again.producer_seq, 1u) << "the answer names the highest number taken";
  EXPECT_EQ(again.next, Offset{2});
  const Error gap = refused(stream.append("d", as("p", 0, 3)), ErrorCode::kSequenceGap);
  EXPECT_EQ(gap.expected, 2u);
  EXPECT_EQ(gap.actual, 3u);
  ok(stream.append("c", as("p", 1, 0)));
  EXPECT_EQ(refused(stream.append("x", as("p", 0, 2)), ErrorCode::kFenced).actual, 1u);
  refused(stream.append("x", as("p", 3, 1)), ErrorCode::kInvalidArgument);
  ok(stream.append("q", as("other", 0, 0)));
  EXPECT_EQ(all(stream), (Texts{"a", "b", "c", "q"}));
}

TEST_P(StreamProducers, AWarmProducersAppendIsOneCommitAndNoRead) {
  Stream stream = make("s");
  ok(stream.append("a", as("p", 0, 0)));
  const auto cost = cost_of([&] {
    for (std::uint64_t seq = 1; seq <= 100; ++seq) ok(stream.append("x", as("p", 0, seq)));
  });
  EXPECT_EQ(cost.commits, 100u);
  EXPECT_EQ(cost.reads, 0u);
  EXPECT_LE(cost.rows_read, cost.commits) << "a commit may check its row's version";
}

TEST_P(StreamProducers, TwoProcessesThatSendTheSameAreOne) {
  Stream stream = make("s");
  Streams other{store(), clock(), Random{9}};
  Stream seen = ok(other.open("s"));
  for (std::uint64_t seq = 0; seq < 50; ++seq) {
    Stream& first = seq % 2 == 0 ? stream : seen;
    Stream& second = seq % 2 == 0 ? seen : stream;
    EXPECT_FALSE(ok(first.append(std::to_string(seq), as("p", 0, seq))).duplicate);
    EXPECT_TRUE(ok(second.append(std::to_string(seq), as("p", 0, seq))).duplicate);
  }
  EXPECT_EQ(all(stream).size(), 50u);
  // A third that never saw them knows, too.
  Streams late{store(), clock(), Random{10}};
  EXPECT_TRUE(ok(ok(late.open("s")).append("x", as("p", 0, 49))).duplicate);
}

TEST_P(StreamProducers, ManyThreadsSendingEachNumberSeveralTimesGiveEachOnce) {
  constexpr std::uint64_t kNumbers = 40;
  Stream stream = make("s");
  Streams other{store(), clock(), Random{9}};
  std::vector<Stream> handles{stream, ok(other.open("s")), stream, ok(other.open("s"))};
  std::vector<std::thread> threads;
  for (Stream& handle : handles) {
    threads.emplace_back([handle]() mutable {
      for (std::uint64_t seq = 0; seq < kNumbers;) {
        const auto sent = handle.append(std::to_string(seq), as("p", 0, seq));
        // A gap means that the number before it has not been taken yet by anybody.
        if (sent) ++seq;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  Texts expected;
  for (std::uint64_t seq = 0; seq < kNumbers; ++seq) expected.push_back(std::to_string(seq));
  EXPECT_EQ(all(stream), expected);
}

TEST_P(StreamProducers, WithoutWaitingTheOrderIsKept) {
  constexpr std::uint64_t kNumbers = 200;
  Stream stream = make("s");
  std::latch left{kNumbers};
  std::atomic<int> failed{0};
  for (std::uint64_t seq = 0; seq < kNumbers; ++seq) {
    stream.append_async({std::to_string(seq)}, as("p", 0, seq), [&](Result<Appended> appended) {
      if (!appended) ++failed;
      left.count_down();
    });
  }
  left.wait();
  EXPECT_EQ(failed, 0);
  Texts expected;
  for (std::uint64_t seq = 0; seq < kNumbers; ++seq) expected.push_back(std::to_string(seq));
  EXPECT_EQ(all(stream), expected);
}

TEST_P(StreamProducers, AppendsWithoutWaitingTellWhatWentWrong) {
  Stream stream = make("s");
  ok(stream.close());
  const auto outcome = [&](Stream target, AppendOptions options) {
    std::latch left{1};
    std::optional<Result<Appended>> result;
    target.append_async({"x"}, std::move(options), [&](Result<Appended> appended) {
      result.emplace(std::move(appended));
      left.count_down();
    });
    left.wait();
    return std::move(*result);
  };
  EXPECT_EQ(refused(outcome(stream, {}), ErrorCode::kClosed).actual, 0u);
  refused(outcome(stream, as("p", 0, 0)), ErrorCode::kClosed);
  refused(outcome(stream, as("p", 0, 5)), ErrorCode::kSequenceGap);
  refused(outcome(stream, as("", 0, 0)), ErrorCode::kInvalidArgument);
  Stream open = make("t");
  EXPECT_EQ(ok(outcome(open, {})).next, Offset{1});
  ok(streams().remove("t"));
  refused(outcome(open, {}), ErrorCode::kNotFound);
}

TEST_P(StreamProducers, ClosingIsGuardedLikeAnAppend) {
  Stream stream = make("s");
  ok(stream.append("a", as("p", 1, 0)));
  AppendOptions close = as("p", 1, 1);
  close.close = true;
  EXPECT_TRUE(ok(stream.append("end", close)).closed);
  const Appended again = ok(stream.append("another end", close));
  EXPECT_TRUE(again.duplicate);
  EXPECT_TRUE(again.closed);
  refused(stream.append("x", as("p", 0, 0)), ErrorCode::kFenced);
  refused(stream.append("x", as("p", 1, 2)), ErrorCode::kClosed);
  AppendOptions somebody = as("q", 0, 0);
  somebody.close = true;
  refused(stream.append(std::span<const BytesView>{}, somebody), ErrorCode::kClosed);
  EXPECT_EQ(all(stream), (Texts{"a", "end"}));
}

TEST_P(StreamProducers, StreamSequencesMustRiseAsBytes) {
  Stream stream = make("s");
  ok(stream.append("a", {.stream_seq = "09"}));
  ok(stream.append("b", {.stream_seq = "10"}));
  refused(stream.append("x", {.stream_seq = "10"}), ErrorCode::kConflict);
  refused(stream.append("x", {.stream_seq = "1"}), ErrorCode::kConflict);
  ok(stream.append("c", {.stream_seq = "2"}));
  ok(stream.append("d"));
  AppendOptions both = as("p", 0, 0);
  both.stream_seq = "3";
  ok(stream.append("e", both));
  EXPECT_TRUE(ok(stream.append("e", both)).duplicate) << "known before its sequence is looked at";
  EXPECT_EQ(all(stream), (Texts{"a", "b", "c", "d", "e"}));
}

TEST_P(StreamProducers, AnExpectedTailIsCheckedBesideAProducer) {
  Stream stream = make_filled("s", 3);
  AppendOptions options = as("p", 0, 0);
  options.expected_tail = Offset{2};
  EXPECT_EQ(refused(stream.append("x", options), ErrorCode::kStale).actual, 3u);
  options.expected_tail = Offset{3};
  EXPECT_FALSE(ok(stream.append("x", options)).duplicate)
      << "a refused append leaves the producer as it was";
}

HOLDFAST_OVER_ALL_STORES(StreamProducers);

}  // namespace
}  // namespace holdfast::suite
