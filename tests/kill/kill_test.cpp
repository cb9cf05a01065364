// S12: `kill -9` of writers and readers at random moments, in a loop, on one store.
//
// Two writers append to one log, two readers follow it, each in a process of its own. A round lets
// them run for some milliseconds, kills some of them and starts those again: a writer at the first
// append that was not acknowledged, a reader at the offset after the last chunk it has seen.
//
// What is checked
//   - what was acknowledged is there; nothing is there twice; each writer's appends are in order
//   and
//     whole; offsets are dense
//   - each reader has seen a prefix of that, without gap or double, across all its restarts
//   - with all writers dead and nothing more committed, every living reader reaches the tail: so no
//     kill between a commit and its ring leaves a reader asleep
//   - nobody's death leaves a lock: the others, and those started again, go on
//
// HOLDFAST_SOAK=N makes it N times as long (tools/soak.sh), HOLDFAST_KILL_SEED sets the choices.
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>

#include <fmt/format.h>
#include <holdfast/random.h>
#include <holdfast/sqlite_store.h>

#include "kill/protocol.h"
#include "kill/target.h"
#include "kill/workers.h"

namespace holdfast::kill {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kWriters = 2;
constexpr std::size_t kReaders = 2;
/// How long what must happen may take; reached only if it does not happen.
constexpr auto kPatience = std::chrono::seconds{30};

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

struct Setup {
  Kind kind;
  Durability durability;
};

class KillLoop : public ::testing::TestWithParam<Setup> {
 protected:
  KillLoop() {
    std::string pattern = (fs::temp_directory_path() / "kill_XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
    path_ = (directory_ / "store.db").string();
  }
  ~KillLoop() override {
    writers_ = {};
    readers_ = {};
    fs::remove_all(directory_);
  }

  // --- Processes --------------------------------------------------------------------------------

  [[nodiscard]] std::vector<std::string> arguments(const char* role) const {
    return {role, path_, GetParam().durability == Durability::kFull ? "full" : "relaxed",
            GetParam().kind == Kind::kStream ? "stream" : "store"};
  }
  void start_writer(std::size_t i, std::uint64_t die_at = 0) {
    auto with = arguments("write");
    with.push_back(std::to_string(i));
    with.push_back(std::to_string(acknowledged_[i]));
    if (die_at != 0) with.push_back(std::to_string(die_at));
    writers_[i].emplace(HOLDFAST_KILL_WORKER, with);
  }
  void start_missing() {
    for (std::size_t i = 0; i < kWriters; ++i) {
      if (!writers_[i]) start_writer(i);
    }
    for (std::size_t i = 0; i < kReaders; ++i) {
      if (readers_[i]) continue;
      auto with = arguments("read");
      with.push_back(std::to_string(seen_[i].size()));
      readers_[i].emplace(HOLDFAST_KILL_WORKER, with);
    }
  }
  void kill_writer(std::size_t i) {
    if (!writers_[i]) return;
    writers_[i]->kill();
    writers_[i]->drain([&](std::string_view line) { on_writer(i, line); });
    writers_[i].reset();
    ++writers_killed_;
  }
  void kill_reader(std::size_t i) {
    if (!readers_[i]) return;
    readers_[i]->kill();
    readers_[i]->drain([&](std::string_view line) { on_reader(i, line); });
    readers_[i].reset();
    ++readers_killed_;
  }

  // --- What they say ----------------------------------------------------------------------------

  void on_writer(std::size_t i, std::string_view line) {
    unsigned long long append = 0;
    if (std::sscanf(std::string{line}.c_str(), "ack %llu", &append) == 1) {
      if (append != acknowledged_[i]) {
        ADD_FAILURE() << "writer " << i << " acknowledged append " << append << ", not "
                      << acknowledged_[i];
      }
      acknowledged_[i] = append + 1;
    } else if (line != "up") {
      ADD_FAILURE() << "writer " << i << ": " << line;
      failed_ = true;
    }
  }
  void on_reader(std::size_t i, std::string_view line) {
    unsigned long long offset = 0;
    unsigned long long append = 0;
    ChunkId id;
    if (std::sscanf(std::string{line}.c_str(), "got %llu %u %llu %u", &offset, &id.writer, &append,
                    &id.index) == 4) {
      id.append = append;
      if (offset != seen_[i].size()) {
        ADD_FAILURE() << "reader " << i << " got offset " << offset << " where " << seen_[i].size()
                      << " comes next";
        failed_ = true;
      }
      seen_[i].push_back(id);
    } else if (line != "up") {
      ADD_FAILURE() << "reader " << i << ": " << line;
      failed_ = true;
    }
  }
  /// Takes what the workers say until the condition holds. False if it does not in good time.
  bool listen(std::chrono::microseconds at_most, const std::function<bool()>& until) {
    const auto deadline = std::chrono::steady_clock::now() + at_most;
    for (;;) {
      if (until() || failed_) return true;
      const auto left = deadline - std::chrono::steady_clock::now();
      if (left.count() <= 0) return false;
      std::vector<pollfd> polled;
      for (auto& writer : writers_) {
        if (writer) polled.push_back({writer->pipe(), POLLIN, 0});
      }
      for (auto& reader : readers_) {
        if (reader) polled.push_back({reader->pipe(), POLLIN, 0});
      }
      const auto left_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(left).count();
      const timespec limit{left_ns / 1'000'000'000, left_ns % 1'000'000'000};
      ::ppoll(polled.data(), polled.size(), &limit, nullptr);
      for (std::size_t i = 0; i < kWriters; ++i) {
        if (!writers_[i]) continue;
        if (!writers_[i]->drain([&](std::string_view line) { on_writer(i, line); })) {
          on_end("writer", i);
        }
      }
      for (std::size_t i = 0; i < kReaders; ++i) {
        if (!readers_[i]) continue;
        if (!readers_[i]->drain([&](std::string_view line) { on_reader(i, line); })) {
          on_end("reader", i);
        }
      }
    }
  }
  void on_end(std::string_view what, std::size_t i) {
    if (dies_by_itself_ && i == 0 && what == "writer") {
      writers_[0].reset();
      ++writers_killed_;
      return;
    }
    ADD_FAILURE() << what << " " << i << " ended by itself";
    failed_ = true;
  }

  // --- Rounds -----------------------------------------------------------------------------------

  void round(Random& random) {
    start_missing();
    const auto before = acknowledged_;
    const bool early = random.one_in(4);  // kill also while they open the store
    if (!early) {
      EXPECT_TRUE(listen(kPatience, [&] {
        return acknowledged_[0] > before[0] && acknowledged_[1] > before[1];
      })) << "a writer makes no progress: is a lock left behind?";
    }
    listen(std::chrono::microseconds{random.below(early ? 4'000 : 20'000)}, [] { return false; });
    const std::uint64_t victims = 1 + random.below(15);  // a bit per worker, at least one
    if ((victims & 1) != 0) kill_writer(0);
    if ((victims & 2) != 0) kill_writer(1);
    if ((victims & 4) != 0) kill_reader(0);
    if ((victims & 8) != 0) kill_reader(1);
    if ((victims & 3) == 3 && (victims & 12) != 12) expect_readers_reach_the_tail();
  }

  void expect_readers_reach_the_tail() {
    std::uint64_t tail = 0;
    {
      auto store = open_sqlite_store(path_, {.must_exist = true});
      if (!store) return;  // killed before it was made
      if (seen_[0].empty() && seen_[1].empty() && acknowledged_[0] + acknowledged_[1] == 0) return;
      tail = make_target(GetParam().kind, **store, false)->tail();
    }
    ++tail_checks_;
    EXPECT_TRUE(listen(kPatience,
                       [&] {
                         for (std::size_t i = 0; i < kReaders; ++i) {
                           if (readers_[i] && seen_[i].size() < tail) return false;
                         }
                         return true;
                       }))
        << "a reader is stuck before the tail " << tail << ": they have seen " << seen_[0].size()
        << " and " << seen_[1].size();
  }

  // --- The end ----------------------------------------------------------------------------------

  void check_everything() {
    auto store = open_sqlite_store(path_, {.must_exist = true});
    ASSERT_TRUE(store.has_value()) << store.error().message;
    const auto report = (*store)->check();
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_TRUE(report->faults.empty()) << report->faults.front();
    const auto target = make_target(GetParam().kind, **store, false);
    std::vector<ChunkId> truth;
    const std::uint64_t tail = target->tail();
    ASSERT_GT(tail, 0u);
    target->follow(0, [&](std::uint64_t offset, BytesView bytes) {
      const auto id = parse_chunk(bytes);
      EXPECT_TRUE(id.has_value()) << "offset " << offset;
      EXPECT_EQ(offset, truth.size()) << "offsets are not dense";
      truth.push_back(id.value_or(ChunkId{}));
      return truth.size() < tail;
    });
    check_writers(truth);
    for (std::size_t i = 0; i < kReaders; ++i) {
      EXPECT_EQ(seen_[i].size(), truth.size()) << "reader " << i;
      EXPECT_TRUE(std::equal(
          seen_[i].begin(), seen_[i].end(), truth.begin(),
          truth.begin() + static_cast<std::ptrdiff_t>(std::min(truth.size(), seen_[i].size()))))
          << "reader " << i << " has seen something else";
    }
    chunks_ = truth.size();
    const std::string last = chunk_text({7, 0, 0});
    EXPECT_FALSE(target->append(7, 0, {last})) << "and the store takes more";
  }

  void check_writers(const std::vector<ChunkId>& truth) {
    std::array<ChunkId, kWriters> next{ChunkId{0, 0, 0}, ChunkId{1, 0, 0}};
    for (std::size_t at = 0; at < truth.size(); ++at) {
      const ChunkId& id = truth[at];
      ASSERT_LT(id.writer, kWriters);
      ChunkId& expected = next[id.writer];
      ASSERT_EQ(id, expected) << "at offset " << at << ": lost, doubled or out of order";
      if (id.index > 0) {
        ASSERT_EQ(truth[at - 1].writer, id.writer) << "an append was torn at offset " << at;
      }
      if (++expected.index == chunks_of(id.append)) expected = {id.writer, id.append + 1, 0};
    }
    for (std::size_t i = 0; i < kWriters; ++i) {
      EXPECT_EQ(next[i].index, 0u) << "half an append of writer " << i << " at the end";
      EXPECT_GE(next[i].append, acknowledged_[i])
          << "acknowledged appends of writer " << i << " are lost";
      EXPECT_LE(next[i].append, acknowledged_[i] + 1) << "more than was ever tried";
    }
  }

  fs::path directory_;
  std::string path_;
  std::array<std::optional<Worker>, kWriters> writers_;
  std::array<std::optional<Worker>, kReaders> readers_;
  std::array<std::uint64_t, kWriters> acknowledged_{};
  std::array<std::vector<ChunkId>, kReaders> seen_;
  bool failed_ = false;
  bool dies_by_itself_ = false;  ///< writer 0 ends as it should
  std::uint64_t writers_killed_ = 0;
  std::uint64_t readers_killed_ = 0;
  std::uint64_t tail_checks_ = 0;
  std::uint64_t chunks_ = 0;
};

TEST_P(KillLoop, S12_NothingAcknowledgedIsLostNothingDoubledNobodyStuck) {
  const std::uint64_t rounds = 15 * from_environment("HOLDFAST_SOAK", 1);
  const std::uint64_t seed =
      from_environment("HOLDFAST_KILL_SEED", Random::from_system().next() % 1'000'000);
  Random random{seed};
  for (std::uint64_t i = 0; i < rounds && !HasFailure(); ++i) {
    SCOPED_TRACE(fmt::format("round {} of seed {}", i, seed));
    round(random);
  }
  ASSERT_FALSE(HasFailure()) << "with seed " << seed;
  start_missing();
  const auto before = acknowledged_;
  EXPECT_TRUE(listen(kPatience, [&] {
    return acknowledged_[0] > before[0] && acknowledged_[1] > before[1];
  })) << "a writer makes no progress at the end";
  kill_writer(0);
  kill_writer(1);
  expect_readers_reach_the_tail();
  kill_reader(0);
  kill_reader(1);
  check_everything();
  std::cout << fmt::format(
                   "[  POINTS  ] {} kills of writers, {} of readers (seed {}): {} appends "
                   "acknowledged, {} chunks "
                   "there, readers reached a dead writer's tail {} times",
                   writers_killed_, readers_killed_, seed, acknowledged_[0] + acknowledged_[1],
                   chunks_, tail_checks_)
            << std::endl;
}

// The worst moment, each time: everybody can see the commit, and nobody was told.
TEST_P(KillLoop, S12_AWriterThatDiesBetweenItsCommitAndItsRingIsHeard) {
  constexpr std::uint64_t kDeaths = 8;
  start_missing();
  ASSERT_TRUE(listen(kPatience, [&] { return acknowledged_[0] > 0 && acknowledged_[1] > 0; }));
  kill_writer(0);
  kill_writer(1);
  expect_readers_reach_the_tail();
  dies_by_itself_ = true;
  for (std::uint64_t i = 0; i < kDeaths && !HasFailure(); ++i) {
    SCOPED_TRACE(fmt::format("death {}", i));
    start_writer(0, 1 + i % 4);
    ASSERT_TRUE(listen(kPatience, [&] { return !writers_[0]; })) << "it did not die";
    expect_readers_reach_the_tail();
  }
  EXPECT_EQ(tail_checks_, kDeaths + 1);
  kill_reader(0);
  kill_reader(1);
  check_everything();
}

INSTANTIATE_TEST_SUITE_P(EachWay, KillLoop,
                         ::testing::Values(Setup{Kind::kStore, Durability::kRelaxed},
                                           Setup{Kind::kStore, Durability::kFull},
                                           Setup{Kind::kStream, Durability::kRelaxed},
                                           Setup{Kind::kStream, Durability::kFull}),
                         [](const auto& setup) {
                           return std::string{setup.param.kind == Kind::kStore ? "Store"
                                                                               : "Stream"} +
                                  (setup.param.durability == Durability::kFull ? "Full"
                                                                               : "Relaxed");
                         });

}  // namespace
}  // namespace holdfast::kill
