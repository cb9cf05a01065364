// S1 and S10 on the real store: what waiting followers cost, and what wrong wake-ups do.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <holdfast/sqlite_store.h>
#include <holdfast/stream.h>

#include "store/sqlite/bell.h"
#include "store/sqlite/bell_testing.h"

namespace holdfast {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using store::testing::Child;
using store::testing::kPatience;
using store::testing::TempStore;

class Followers : public ::testing::Test {
 protected:
  Followers() { fs::remove(place_.path()); }

  std::unique_ptr<SqliteStore> open() {
    auto store = open_sqlite_store(place_.path(), {.durability = Durability::kRelaxed});
    if (!store) throw std::runtime_error{store.error().message};
    return std::move(*store);
  }
  static Stream make(Streams& streams, const std::string& name, std::uint64_t chunks) {
    Stream stream = streams.create(name)->stream;
    const std::string chunk(85, 'x');
    for (std::uint64_t at = 0; at < chunks; at += 10'000) {
      const std::vector<BytesView> batch(std::min<std::uint64_t>(10'000, chunks - at), chunk);
      EXPECT_TRUE(stream.append(batch).has_value());
    }
    return stream;
  }
  /// Follows to the tail, then waits.
  Follower wait_at_tail(const Stream& stream, From from = From::tail()) {
    Follower follower = std::move(*stream.follow({.from = from}));
    while (follower.try_next()) {
    }
    follower.async_wait([this] { called_.fetch_add(1); });
    return follower;
  }
  /// Lets a second pass and expects that nothing happens in it.
  void expect_silence(const Store& store) {
    std::uint64_t before = 0;
    do {  // background work that the appends have started ends first
      before = activity(store);
      std::this_thread::sleep_for(100ms);
    } while (activity(store) != before);
    const StoreStats stats = store.stats();
    const std::uint64_t sleeps = store::testing::sleeps_of_watching_threads();
    const std::uint64_t cpu_ns = store::testing::cpu_ns_of_watching_threads();
    const std::uint64_t called = called_.load();
    ASSERT_GT(sleeps, 0u);
    std::this_thread::sleep_for(1s);
    EXPECT_EQ(store.stats().watcher_wakeups, stats.watcher_wakeups);
    EXPECT_EQ(store.stats().wakes, stats.wakes);
    EXPECT_EQ(store.stats().reads, stats.reads);
    EXPECT_EQ(store.stats().rows_read, stats.rows_read);
    EXPECT_EQ(store.stats().syncs, stats.syncs);
    EXPECT_EQ(called_.load(), called);
    EXPECT_EQ(store::testing::sleeps_of_watching_threads(), sleeps) << "as the kernel counts them";
    EXPECT_EQ(store::testing::cpu_ns_of_watching_threads(), cpu_ns) << "as the kernel counts it";
  }
  static std::uint64_t activity(const Store& store) {
    return store.stats().watcher_wakeups + store.stats().rows_read + store.stats().rows_written +
           store.stats().syncs + store::testing::sleeps_of_watching_threads();
  }

  TempStore place_;
  std::atomic<std::uint64_t> called_{0};
};

TEST_F(Followers, S1_AnIdleFollowerOfALongStreamMakesNoWakeUps) {
  const auto store = open();
  Streams streams{*store};
  const Stream stream = make(streams, "long", 250'000);
  const Follower follower = wait_at_tail(stream);
  expect_silence(*store);
}

TEST_F(Followers, S1_TenThousandIdleFollowersOfALongStreamMakeNoWakeUps) {
  const auto store = open();
  Streams streams{*store};
  const Stream stream = make(streams, "long", 250'000);
  std::vector<Follower> followers;
  for (int i = 0; i < 10'000; ++i) followers.push_back(wait_at_tail(stream));
  expect_silence(*store);
}

TEST_F(Followers, S1_FollowersOfAThousandStreamsMakeNoWakeUps) {
  const auto store = open();
  Streams streams{*store};
  std::vector<Stream> all;
  std::vector<Follower> followers;
  for (int i = 0; i < 1'000; ++i) {
    all.push_back(make(streams, "s/" + std::to_string(i), 1));
    followers.push_back(wait_at_tail(all.back(), From::beginning()));
  }
  expect_silence(*store);
}

TEST_F(Followers, S10_WakeUpsForNothingNeitherDoubleNorReorder) {
  constexpr std::uint64_t kChunks = 2'000;
  Child writer{[this] {
    auto store = open();
    Streams streams{*store};
    Stream stream = streams.create("s")->stream;
    for (std::uint64_t i = 0; i < kChunks; ++i) {
      if (!stream.append(std::to_string(i))) return 1;
    }
    return 0;
  }};
  const auto store = open();
  Streams streams{*store};
  const Stream stream = streams.create("s")->stream;
  auto bell = std::move(*store::Bell::open(place_.path()));
  std::atomic<bool> stop{false};
  std::jthread noise{[&] {  // rings everything, all the time, whatever was committed
    std::vector<store::BellSlot> slots;
    for (std::uint16_t i = 0; i < store::kBellCounters; ++i) slots.push_back(store::BellSlot{i});
    while (!stop.load()) bell->ring(slots);
  }};
  std::array<std::jthread, 3> readers;
  std::array<std::uint64_t, 3> seen{};
  for (std::size_t r = 0; r < readers.size(); ++r) {
    readers[r] = std::jthread{[&, r] {
      Follower follower = std::move(*stream.follow());
      while (seen[r] < kChunks) {
        const auto chunk = follower.next_for(kPatience);
        if (!chunk || chunk->offset.value != seen[r] || chunk->bytes != std::to_string(seen[r])) {
          return;
        }
        ++seen[r];
      }
    }};
  }
  writer.go();
  EXPECT_EQ(writer.status(), 0);
  for (std::jthread& reader : readers) reader.join();
  stop.store(true);
  for (const std::uint64_t each : seen) EXPECT_EQ(each, kChunks);
}

TEST_F(Followers, S10_FollowersInTwoProcessesSeeTheSameOrder) {
  // Two processes append in turns, two others follow; each follower sees every chunk once.
  constexpr std::uint64_t kEach = 500;
  const auto append = [this](const char* who) {
    auto store = open();
    Streams streams{*store};
    Stream stream = streams.create("s")->stream;
    for (std::uint64_t i = 0; i < kEach; ++i) {
      if (!stream.append(who + std::to_string(i))) return 1;
    }
    return 0;
  };
  // The digest of what a follower has seen, so that it fits an exit status.
  const auto follow = [this] {
    auto store = open();
    Streams streams{*store};
    Follower follower = std::move(*streams.create("s")->stream.follow());
    std::uint64_t digest = 7;
    for (std::uint64_t i = 0; i < 2 * kEach; ++i) {
      const auto chunk = follower.next_for(kPatience);
      if (!chunk || chunk->offset.value != i) return 0;
      for (const char byte : chunk->bytes) digest = digest * 31 + static_cast<unsigned char>(byte);
    }
    return static_cast<int>(1 + digest % 96);
  };
  Child first{[&] { return append("a"); }};
  Child second{[&] { return append("b"); }};
  Child one{follow};
  Child two{follow};
  for (const Child* child : {&one, &two, &first, &second}) child->go();
  EXPECT_EQ(first.status(), 0);
  EXPECT_EQ(second.status(), 0);
  const int digest = one.status();
  EXPECT_GT(digest, 0) << "a follower missed or doubled a chunk";
  EXPECT_EQ(two.status(), digest);
  EXPECT_EQ(follow(), digest) << "and so does who reads it afterwards";
}

}  // namespace
}  // namespace holdfast
