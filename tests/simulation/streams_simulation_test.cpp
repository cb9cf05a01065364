// Producers in a bad world: answers get lost, processes die and come back with a higher epoch, old
// ones speak up late, everything is sent twice now and then, through two processes on one store.
// One seeded scheduler decides it all, so a failing seed replays exactly.
//
// In the end every chunk is there once, each producer's in its order, and every reader has read the
// same bytes.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>

#include <fmt/format.h>

#include <holdfast/stream.h>

#include "sim/lossy_store.h"
#include "store_suite.h"

namespace holdfast::suite {
namespace {

constexpr const char* kStream = "chat/1";

struct Totals {
  std::uint64_t lost = 0;
  std::uint64_t lost_after = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t fenced = 0;
  std::uint64_t gaps = 0;
  std::uint64_t restarts = 0;
};

class Simulation {
 public:
  Simulation(Store& store, const Clock& clock, std::uint64_t seed)
      : random_{seed}, clock_{clock}, lossy_{store, seed + 1, 6} {
    for (std::size_t i = 0; i < kProcesses; ++i) restart_process(i);
    while (!processes_[0]->create(kStream, {.content_type = "text/plain"})) {
    }
    for (std::size_t i = 0; i < kProducers; ++i)
      producers_.push_back({.name = fmt::format("p{}", i)});
    readers_.resize(3);
  }

  // Runs to the end: every producer has had so many chunks acknowledged.
  void run(std::uint64_t chunks_each) {
    const auto through = [&](const ProducerAtWork& one) { return one.done >= chunks_each; };
    while (!std::ranges::all_of(producers_, through)) {
      ProducerAtWork& one = producers_[random_.below(producers_.size())];
      switch (random_.below(16)) {
        case 0: restart_process(random_.below(kProcesses)); break;
        case 1: speak_up_late(one); break;
        case 2: send_again(one); break;
        case 3: skip_a_number(one); break;
        case 4: restart(one); break;
        case 5:
        case 6:
        case 7: read_on(readers_[random_.below(readers_.size())]); break;
        default:
          if (!through(one)) send_next(one);
      }
    }
  }

  void judge(std::uint64_t chunks_each) {
    const std::vector<Bytes> all = whole();
    std::map<Bytes, std::uint64_t> counts;
    std::map<std::string, std::uint64_t> next;
    for (const Bytes& chunk : all) {
      ++counts[chunk];
      const std::size_t dot = chunk.find('.');
      EXPECT_EQ(std::stoull(chunk.substr(dot + 1)), next[chunk.substr(0, dot)]++) << chunk;
    }
    for (const auto& [chunk, count] : counts) EXPECT_EQ(count, 1u) << chunk;
    EXPECT_EQ(all.size(), kProducers * chunks_each);
    for (Reader& reader : readers_) {
      while (reader.chunks.size() < all.size()) read_on(reader);
      EXPECT_EQ(reader.chunks, all);
    }
    totals_.lost = lossy_.lost();
    totals_.lost_after = lossy_.lost_after();
  }

  [[nodiscard]] const Totals& totals() const { return totals_; }
  [[nodiscard]] std::vector<Bytes> whole() {
    std::vector<Bytes> out;
    for (Offset from{};;) {
      const Chunks page = ok(stream().read({.from = from}));
      for (const Chunk& chunk : page.items) out.emplace_back(chunk.bytes);
      if (page.at_tail) return out;
      from = page.next;
    }
  }

 private:
  static constexpr std::size_t kProcesses = 2;
  static constexpr std::size_t kProducers = 4;

  struct ProducerAtWork {
    std::string name;
    std::uint64_t epoch = 0;
    std::uint64_t seq = 0;   // the next to send
    std::uint64_t done = 0;  // chunks acknowledged
    bool unsure = false;     // the answer to the next one was lost before
    bool first_of_epoch = true;
  };
  struct Reader {
    Offset cursor{};
    std::vector<Bytes> chunks{};
  };

  Stream stream() {
    for (;;) {
      auto opened = processes_[random_.below(kProcesses)]->open(kStream);
      if (opened) return std::move(*opened);
      EXPECT_EQ(error_name(opened.error().code), "unavailable") << opened.error().message;
    }
  }

  void restart_process(std::size_t index) {
    processes_[index] = std::make_unique<Streams>(lossy_, clock_);
  }

  Result<Appended> send(const ProducerAtWork& one, std::uint64_t epoch, std::uint64_t seq,
                        std::uint64_t number) {
    const std::string chunk = fmt::format("{}.{}", one.name, number);
    return stream().append(chunk, {.producer = Producer{one.name, epoch, seq}});
  }

  static bool lost(const Result<Appended>& answer) {
    return !answer && answer.error().code == ErrorCode::kUnavailable;
  }

  void send_next(ProducerAtWork& one) {
    const auto answer = send(one, one.epoch, one.seq, one.done);
    if (lost(answer)) {
      one.unsure = true;
      return;
    }
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_TRUE(one.unsure || !answer->duplicate);
    if (answer->duplicate) ++totals_.duplicates;
    one.unsure = false;
    one.first_of_epoch = false;
    ++one.seq;
    ++one.done;
  }

  // A process that was thought dead sends with its old epoch.
  void speak_up_late(const ProducerAtWork& one) {
    if (one.epoch == 0 || one.first_of_epoch) return;
    const auto answer = send(one, one.epoch - 1, one.seq, 999'999);
    if (lost(answer)) return;
    EXPECT_EQ(error_name(answer.error().code), "fenced");
    EXPECT_EQ(answer.error().actual, one.epoch);
    ++totals_.fenced;
  }

  void send_again(const ProducerAtWork& one) {
    if (one.seq == 0) return;
    const auto answer = send(one, one.epoch, one.seq - 1, one.done - 1);
    if (lost(answer)) return;
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_TRUE(answer->duplicate);
    ++totals_.duplicates;
  }

  void skip_a_number(const ProducerAtWork& one) {
    if (one.unsure || one.first_of_epoch) return;
    const auto answer = send(one, one.epoch, one.seq + 1, 999'999);
    if (lost(answer)) return;
    EXPECT_EQ(error_name(answer.error().code), "sequence_gap");
    EXPECT_EQ(answer.error().expected, one.seq);
    EXPECT_EQ(answer.error().actual, one.seq + 1);
    ++totals_.gaps;
  }

  // Dies and comes back: it knows nothing but its name and its last epoch, and finds in the stream
  // how far it came. What was lost on the way by then has happened or never will.
  void restart(ProducerAtWork& one) {
    if (one.first_of_epoch) return;
    ++totals_.restarts;
    ++one.epoch;
    one.seq = 0;
    one.first_of_epoch = true;
    const std::vector<Bytes> all = whole();
    const auto mine = [&](const Bytes& chunk) { return chunk.starts_with(one.name + "."); };
    one.done = static_cast<std::uint64_t>(std::ranges::count_if(all, mine));
    one.unsure = false;
  }

  void read_on(Reader& reader) {
    const auto page =
        stream().read({.from = reader.cursor, .limits = {.records_max = 1 + random_.below(9)}});
    if (!page) {
      EXPECT_EQ(error_name(page.error().code), "unavailable") << page.error().message;
      return;
    }
    for (const Chunk& chunk : page->items) {
      reader.chunks.emplace_back(chunk.bytes);
      reader.cursor = chunk.next;  // as a client that is cut off within the page would keep it
      if (random_.one_in(9)) return;
    }
  }

  Random random_;
  const Clock& clock_;
  sim::LossyStore lossy_;
  std::array<std::unique_ptr<Streams>, kProcesses> processes_;
  std::vector<ProducerAtWork> producers_;
  std::vector<Reader> readers_;
  Totals totals_;
};

std::uint64_t soak() {
  const char* text = std::getenv("HOLDFAST_SOAK");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 1;
}

using StreamSimulation = StoreSuite;

TEST_P(StreamSimulation, S11_ThroughLostAnswersAndRestartsEveryChunkIsThereOnce) {
  Totals sum;
  for (std::uint64_t seed = 1; seed <= 6 * soak(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const auto fresh = GetParam().make();
    Simulation simulation{fresh->store(), fresh->clock, seed};
    simulation.run(60);
    simulation.judge(60);
    if (HasFailure()) return;
    const Totals& totals = simulation.totals();
    sum.lost_after += totals.lost_after;
    sum.duplicates += totals.duplicates;
    sum.fenced += totals.fenced;
    sum.gaps += totals.gaps;
    sum.restarts += totals.restarts;
  }
  EXPECT_GT(sum.lost_after, 20u);
  EXPECT_GT(sum.duplicates, 20u);
  EXPECT_GT(sum.fenced, 10u);
  EXPECT_GT(sum.gaps, 10u);
  EXPECT_GT(sum.restarts, 10u);
}

TEST_P(StreamSimulation, TheSameSeedGivesTheSameStream) {
  std::vector<std::vector<Bytes>> runs;
  for (const std::uint64_t seed : {5u, 5u, 6u}) {
    const auto fresh = GetParam().make();
    Simulation simulation{fresh->store(), fresh->clock, seed};
    simulation.run(25);
    runs.push_back(simulation.whole());
  }
  EXPECT_EQ(runs[0], runs[1]);
  EXPECT_NE(runs[0], runs[2]);
}

INSTANTIATE_TEST_SUITE_P(All, StreamSimulation, testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace holdfast::suite
