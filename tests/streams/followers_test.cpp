// Followers: each chunk once and in order, at one read for all of them, whatever the others do.
#include <atomic>
#include <condition_variable>
#include <latch>
#include <mutex>
#include <thread>

#include <holdfast/random.h>

#include "engine/streams/hub.h"
#include "streams_fixture.h"

namespace holdfast::suite {
namespace {

using namespace std::chrono_literals;
using engine::Subscription;

class StreamFollowers : public StreamSuite {
 protected:
  // Everything until the end, on this thread.
  static Texts drain(Follower& follower) {
    Texts out;
    while (auto chunk = follower.next()) out.emplace_back(chunk->bytes);
    return out;
  }
  // Waits until the subscription may give something.
  static void wait(Subscription& subscription) {
    std::latch ready{1};
    subscription.arm([&] { ready.count_down(); });
    ready.wait();
  }
};

// Calls to wait for, from other threads.
class Counter {
 public:
  void add() {
    const std::lock_guard lock{mutex_};
    ++count_;
    changed_.notify_all();
  }
  void wait_for(std::uint64_t count) {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return count_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t count_ = 0;
};

TEST_P(StreamFollowers, S1_IdleFollowersCauseNothing) {
  Stream stream = make_filled("s", 25'000);
  std::vector<Follower> followers;
  for (int i = 0; i < 200; ++i) followers.push_back(ok(stream.follow({.from = From::tail()})));
  for (Follower& follower : followers) EXPECT_FALSE(follower.try_next().has_value());
  std::atomic<int> woken{0};
  for (Follower& follower : followers) follower.async_wait([&] { ++woken; });
  const StoreStats before = store().stats();
  // What goes on elsewhere does not concern them.
  Stream elsewhere = make_filled("other", 10);
  ok(elsewhere.append("x"));
  const StoreStats after = store().stats();
  EXPECT_EQ(woken, 0);
  EXPECT_EQ(after.reads, before.reads);
  EXPECT_EQ(after.wakes, before.wakes);
}

TEST_P(StreamFollowers, S3_AReaderThatComesBackReadsOnlyWhatFollows) {
  Stream stream = make_filled("s", 10'000);
  const Offset cursor{9'990};
  const auto cost = cost_of([&] {
    Follower follower = ok(stream.follow({.from = cursor}));
    for (std::uint64_t at = 9'990; at < 10'000; ++at)
      EXPECT_EQ(follower.try_next()->bytes, std::to_string(at));
    EXPECT_FALSE(follower.try_next().has_value());
  });
  EXPECT_EQ(cost.bytes_read, 40u) << "ten chunks of four bytes";
  EXPECT_EQ(cost.reads, 1u);
  EXPECT_EQ(cost.commits, 0u);
}

TEST_P(StreamFollowers, S5_AThousandFollowersCostOneReadPerAppend) {
  constexpr std::size_t kFollowers = 1'000;
  Stream stream = make_filled("s", 100);
  std::vector<std::unique_ptr<Subscription>> all_of_them;
  for (std::size_t i = 0; i < kFollowers; ++i) {
    all_of_them.push_back(ok(engine::subscribe(stream, From::tail())));
    EXPECT_EQ(all_of_them.back()->take().state, Subscription::State::kWait);
  }
  for (int round = 0; round < 5; ++round) {
    Counter ready;
    for (auto& one : all_of_them) one->arm([&] { ready.add(); });
    const auto cost = cost_of([&] {
      ok(stream.append("chunk " + std::to_string(round)));
      ready.wait_for(kFollowers);
      for (auto& one : all_of_them) {
        const Subscription::Take take = one->take();
        ASSERT_EQ(take.state, Subscription::State::kBlock);
        EXPECT_EQ(take.block->items.at(take.begin).bytes, "chunk " + std::to_string(round));
        ASSERT_EQ(one->take().state, Subscription::State::kWait);
      }
    });
    EXPECT_EQ(cost.reads, 1u);
    EXPECT_EQ(cost.records_read, 1u);
  }
  EXPECT_LE(store().stats().wakes, 5u) << "one watch for all of them";
}

TEST_P(StreamFollowers, S5_AlsoWhenTheyAreThreads) {
  constexpr std::size_t kFollowers = 50;
  constexpr std::size_t kAppends = 100;
  Stream stream = make("s");
  std::vector<Follower> followers;
  for (std::size_t i = 0; i < kFollowers; ++i) followers.push_back(ok(stream.follow()));
  std::atomic<std::size_t> wrong{0};
  std::vector<std::thread> threads;
  const std::uint64_t reads_before = store().stats().reads;
  for (Follower& follower : followers) {
    threads.emplace_back([&follower, &wrong] {
      std::size_t at = 0;
      while (auto chunk = follower.next()) wrong += chunk->bytes == std::to_string(at++) ? 0 : 1;
      if (at != kAppends) ++wrong;
    });
  }
  for (std::size_t i = 0; i < kAppends; ++i) ok(stream.append(std::to_string(i)));
  ok(stream.close());
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0u);
  // One per append and each one's first; some more where a wake-up found nothing new.
  EXPECT_LE(store().stats().reads - reads_before, 2 * kAppends + 2 * kFollowers);
}

TEST_P(StreamFollowers, S6_JoinedOverAnyReconnectsAllReadsEqualOneFullRead) {
  Random random{5};
  Stream source = make_filled("source", 150);
  Stream stream = ok(streams().fork("source", "s", {.at = Offset{120}})).stream;
  for (int round = 0; round < 30; ++round) {
    ok(stream.append("round " + std::to_string(round)));
    const Texts whole = all(stream);
    Texts joined;
    Offset cursor;
    while (joined.size() < whole.size()) {
      const ReadLimits limits{.records_max = 1 + random.below(50),
                              .bytes_max = 1 + random.below(500)};
      if (random.one_in(2)) {
        const Chunks page = ok(stream.read({.from = cursor, .limits = limits}));
        for (auto& text : texts(page)) joined.push_back(std::move(text));
        cursor = page.next;
      } else {
        Follower follower = ok(stream.follow({.from = cursor, .limits = limits}));
        for (std::uint64_t take = random.below(40); take > 0; --take) {
          const auto chunk = follower.try_next();
          if (!chunk) break;
          joined.emplace_back(chunk->bytes);
          cursor = chunk->next;
        }
        EXPECT_EQ(follower.cursor(), cursor);
      }
    }
    EXPECT_EQ(joined, whole);
  }
}

TEST_P(StreamFollowers, S9_ASlowFollowerHoldsOneBlockAndDelaysNobody) {
  Stream stream = make("s");
  const std::string chunk(4'096, 'x');
  auto slow = ok(engine::subscribe(stream, From::beginning(), {.bytes_max = 64u << 10}));
  auto quick = ok(engine::subscribe(stream, From::beginning()));
  std::size_t got = 0;
  const std::vector<BytesView> batch(20, chunk);
  ok(stream.append(batch));
  Subscription::Take held = slow->take();  // and then it does not come back
  ASSERT_EQ(held.state, Subscription::State::kBlock);
  for (int i = 1; i < 100; ++i) {
    ok(stream.append(batch));
    for (;;) {
      const auto take = quick->take();
      if (take.state != Subscription::State::kBlock) break;
      got += take.block->items.size() - take.begin;
    }
  }
  while (got < 2'000) {
    wait(*quick);
    const auto take = quick->take();
    if (take.state == Subscription::State::kBlock) got += take.block->items.size() - take.begin;
  }
  EXPECT_EQ(got, 2'000u) << "the quick one has had all of it while the slow one held its first";
  EXPECT_EQ(held.block.use_count(), 1) << "nothing else keeps what the slow one holds";
  // When it comes back it reads on by range, within its limits.
  std::size_t late = held.block->items.size() - held.begin;
  held = {};
  while (late < 2'000) {
    const auto take = slow->take();
    ASSERT_EQ(take.state, Subscription::State::kBlock);
    std::size_t bytes = 0;
    for (const Chunk& item : take.block->items) bytes += item.bytes.size();
    EXPECT_LE(bytes, engine::kRingBytesMax);
    late += take.block->items.size() - take.begin;
  }
  EXPECT_EQ(late, 2'000u);
}

TEST_P(StreamFollowers, S10_DoubledAndUselessWakeUpsDoNoHarm) {
  Stream stream = make("s");
  auto one = ok(engine::subscribe(stream, From::tail()));
  EXPECT_EQ(one->take().state, Subscription::State::kWait);
  for (int i = 0; i < 200; ++i) {
    // A wake-up that brings nothing: closing is not, trimming nothing is.
    ok(store().commit(
        {.home = "stream/s", .trims = {{ok(store().logs({}, 1)).at(0).log, Offset{0}}}}));
    if (i % 2 == 0) ok(stream.append(std::to_string(i)));
    if (i % 2 == 0) {
      for (;;) {
        wait(*one);
        const auto take = one->take();
        if (take.state == Subscription::State::kWait) continue;
        ASSERT_EQ(take.state, Subscription::State::kBlock);
        ASSERT_EQ(take.block->items.size() - take.begin, 1u);
        EXPECT_EQ(take.block->items.at(take.begin).bytes, std::to_string(i));
        break;
      }
    }
  }
  for (Subscription::State state = Subscription::State::kBlock;
       state != Subscription::State::kWait;) {
    state = one->take().state;
    EXPECT_NE(state, Subscription::State::kBlock) << "doubled";
  }
}

TEST_P(StreamFollowers, S10_WritersAndFollowersInAnyInterleavingKeepTheOrder) {
  constexpr int kWriters = 4;
  constexpr std::uint64_t kEach = 150;
  Stream stream = make("s");
  Streams other{store(), clock(), Random{9}};
  Stream there = ok(other.open("s"));
  std::vector<Texts> seen(6);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    threads.emplace_back([&, i] {
      // They leave and come back as they please.
      Random random{i};
      Offset cursor;
      for (bool closed = false; !closed;) {
        auto follower = (i % 2 == 0 ? stream : there).follow({.from = cursor});
        if (!follower) return;
        for (std::uint64_t left = 1 + random.below(60); left > 0; --left) {
          const auto chunk = follower->next();
          if (!chunk) break;
          seen[i].emplace_back(chunk->bytes);
          cursor = chunk->next;
        }
        closed = follower->closed();
      }
    });
  }
  std::vector<std::thread> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&, writer] {
      for (std::uint64_t i = 0; i < kEach; ++i) {
        const std::string text = std::to_string(writer) + ":" + std::to_string(i);
        (void)(writer % 2 == 0 ? stream : there).append(text);
      }
    });
  }
  for (auto& writer : writers) writer.join();
  ok(stream.close());
  for (auto& thread : threads) thread.join();
  const Texts whole = all(stream);
  EXPECT_EQ(whole.size(), kWriters * kEach);
  for (const Texts& one : seen) EXPECT_EQ(one, whole);
}

TEST_P(StreamFollowers, S13_PagingThroughAStreamReadsEachChunkOnce) {
  Stream stream = make_filled("s", 20'000);
  std::uint64_t bytes = 0;
  for (std::uint64_t i = 0; i < 20'000; ++i) bytes += std::to_string(i).size();
  const auto cost = cost_of(
      [&] { EXPECT_EQ(all(stream, {.records_max = 100, .bytes_max = 1u << 20}).size(), 20'000u); });
  EXPECT_EQ(cost.bytes_read, bytes);
  EXPECT_LE(cost.reads, 20'000u / 100 + 1);
}

TEST_P(StreamFollowers, S14_AnEndInTheSameCommitAsItsOwnersIsSeenByAll) {
  Stream stream = make_filled("s", 3);
  Follower blocked = ok(stream.follow());
  Follower polled = ok(stream.follow());
  Texts seen;
  std::thread reader{[&] { seen = drain(blocked); }};
  while (polled.try_next()) {
  }
  std::latch ready{1};
  polled.async_wait([&] { ready.count_down(); });
  // What owns the stream ends in the same home: its last record and the close are one batch.
  const std::string log = ok(store().logs({}, 1)).at(0).log;
  Batch batch{.home = "stream/s", .creates = {{.log = "owner"}}};
  batch.appends.push_back({.log = "owner", .records = {"completed"}});
  batch.appends.push_back({.log = log, .records = {"last"}, .close = true});
  ok(store().commit(batch));
  reader.join();
  EXPECT_EQ(seen, (Texts{"0", "1", "2", "last"}));
  EXPECT_TRUE(blocked.closed());
  ready.wait();
  EXPECT_EQ(drain(polled), (Texts{"last"}));
  EXPECT_TRUE(polled.closed());
}

TEST_P(StreamFollowers, S15_AReaderBelowTheFirstOffsetIsToldWhereItIs) {
  Stream stream = make_filled("s", 100);
  Follower behind = ok(stream.follow({.from = Offset{10}}));
  ok(stream.trim(Offset{60}));
  const Error error = refused(stream.read({.from = Offset{59}}), ErrorCode::kGone);
  EXPECT_EQ(error.actual, 60u);
  EXPECT_NE(error.message.find("60"), std::string::npos);
  EXPECT_FALSE(behind.next().has_value());
  ASSERT_NE(behind.error(), nullptr);
  EXPECT_EQ(behind.error()->code, ErrorCode::kGone);
  EXPECT_EQ(behind.error()->actual, 60u);
  EXPECT_TRUE(behind.ended());
  EXPECT_FALSE(behind.closed());
  const Chunks rest = ok(stream.read());
  EXPECT_EQ(rest.from, Offset{60}) << "offsets stay; the beginning is the first chunk kept";
  EXPECT_EQ(rest.items.front().bytes, "60");
  EXPECT_EQ(ok(stream.tail()).first, Offset{60});
  EXPECT_EQ(ok(stream.follow()).next()->bytes, "60");
  // One that never saw the trim.
  Streams other{store(), clock(), Random{9}};
  EXPECT_EQ(ok(ok(other.open("s")).follow()).next()->bytes, "60");
}

TEST_P(StreamFollowers, ADeletedStreamEndsItsFollowers) {
  Stream stream = make_filled("s", 1);
  Follower follower = ok(stream.follow());
  ASSERT_TRUE(follower.next().has_value());
  std::thread remover{[&] { ok(streams().remove("s")); }};
  EXPECT_FALSE(follower.next().has_value());
  remover.join();
  ASSERT_NE(follower.error(), nullptr);
  EXPECT_EQ(follower.error()->code, ErrorCode::kNotFound);
}

TEST_P(StreamFollowers, ADeletedStreamThatForksNeedIsNotTakenForClosed) {
  Stream stream = make_filled("s", 1);
  Streams other{store(), clock(), Random{9}};
  Follower follower = ok(ok(other.open("s")).follow());
  ASSERT_TRUE(follower.next().has_value());
  ok(streams().fork("s", "fork"));
  std::thread remover{[&] { ok(streams().remove("s")); }};
  EXPECT_FALSE(follower.next().has_value());
  remover.join();
  EXPECT_FALSE(follower.closed());
  ASSERT_NE(follower.error(), nullptr);
  EXPECT_EQ(follower.error()->code, ErrorCode::kGone);
}

TEST_P(StreamFollowers, CanBeStoppedFromOutside) {
  Stream stream = make("s");
  Follower follower = ok(stream.follow());
  std::thread stopper{[&] { follower.stop(); }};
  EXPECT_FALSE(follower.next().has_value());
  stopper.join();
  EXPECT_TRUE(follower.ended());
  EXPECT_FALSE(follower.closed());
  EXPECT_EQ(follower.error(), nullptr);
  bool called = false;
  follower.async_wait([&] { called = true; });
  EXPECT_TRUE(called) << "nothing is left to wait for";
}

TEST_P(StreamFollowers, WaitsNoLongerThanAsked) {
  Stream stream = make("s");
  Follower follower = ok(stream.follow());
  EXPECT_FALSE(follower.next_for(1ms).has_value());
  EXPECT_FALSE(follower.ended());
  ok(stream.append("x"));
  EXPECT_EQ(follower.next_for(1min)->bytes, "x");
}

TEST_P(StreamFollowers, AFollowerMayBeDroppedWhileItWaits) {
  Stream stream = make("s");
  for (int i = 0; i < 100; ++i) {
    auto follower = std::make_shared<Follower>(ok(stream.follow()));
    // As a connection does: the callback keeps its owner, and may be the last that does.
    follower->async_wait([follower] {});
    std::thread writer{[&] { ok(stream.append("x")); }};
    follower.reset();
    writer.join();
  }
  EXPECT_EQ(all(stream).size(), 100u);
}

HOLDFAST_OVER_ALL_STORES(StreamFollowers);

}  // namespace
}  // namespace holdfast::suite
