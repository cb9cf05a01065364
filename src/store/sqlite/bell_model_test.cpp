// All interleavings of one writer, one watching thread and one reader, by exhaustive search.
//
//   writer   commit -> counter + 1 -> group word + 1 -> wake if the group is watched     (ring)
//   reader   say that the group is watched -> note the counter -> read the log, until it has seen
//            every commit, each time waiting for a call in between                       (watch)
//   thread   note the group word -> compare the counter, call -> sleep if the word is as noted
//
// Each step is atomic, as on the machine (the futex compares and sleeps in one). The search visits
// every reachable state; one where nobody can move and the reader has not read everything is a lost
// wake-up. Each rule of the protocol is also broken in turn: the search must then find the loss, so
// it can find one.
#include <gtest/gtest.h>

#include <compare>
#include <set>
#include <vector>

namespace holdfast::store {
namespace {

constexpr int kCommits = 3;

/// What a broken protocol does wrong.
enum class Fault {
  kNone,
  kRingBeforeCommit,     ///< the writer rings, then commits
  kGroupBeforeCounter,   ///< the writer changes the group word before the counter
  kReadBeforeNote,       ///< the reader reads the log, then notes the counter
  kCompareBeforeNote,    ///< the thread compares counters, then notes the group word
  kSleepWithoutCompare,  ///< the thread sleeps even if the word has changed since
  kNoNewGroupScan,       ///< the thread does not compare the counters of a group newly in use
};

struct State {
  // Shared between processes.
  int log = 0;
  int counter = 0;
  int word = 0;
  bool watched = false;
  // Writer.
  int commits_done = 0;
  int writer_step = 0;
  // Reader, and the watch that it made.
  int reader_step = 0;
  int read = 0;
  bool called = false;
  bool watch_listed = false;
  int counter_seen = 0;
  // Thread.
  int thread_step = 0;  // 0 note, 1 compare, 2 sleep, 3 asleep
  int word_noted = 0;
  int word_seen = 0;
  bool listening = false;  ///< the group is among the words it sleeps on
  bool scan = false;
  bool nudged = false;  ///< a new group is in use: the control word has changed
  friend auto operator<=>(const State&, const State&) = default;
};

class Model {
 public:
  explicit Model(Fault fault) : fault_{fault} {}

  /// Visits everything that can be reached; counts states, and the ends where the reader is stuck.
  void explore() {
    std::vector<State> open{State{}};
    seen_.insert(State{});
    while (!open.empty()) {
      const State now = open.back();
      open.pop_back();
      bool moved = false;
      for (const auto step : {&Model::writer, &Model::reader, &Model::thread}) {
        State next = now;
        if (!(this->*step)(next)) continue;
        moved = true;
        if (seen_.insert(next).second) open.push_back(next);
      }
      if (moved) continue;
      ++ends_;
      if (now.read < kCommits) ++stuck_;
    }
  }
  [[nodiscard]] std::size_t states() const { return seen_.size(); }
  [[nodiscard]] int ends() const { return ends_; }
  [[nodiscard]] int stuck() const { return stuck_; }

 private:
  void wake(State& state) const {
    if (state.watched && state.thread_step == 3 && state.listening) state.thread_step = 0;
  }

  bool writer(State& state) const {
    if (state.commits_done == kCommits) return false;
    enum class Do { kCommit, kCounter, kWord, kWake };
    std::vector<Do> order{Do::kCommit, Do::kCounter, Do::kWord, Do::kWake};
    if (fault_ == Fault::kRingBeforeCommit)
      order = {Do::kCounter, Do::kWord, Do::kWake, Do::kCommit};
    if (fault_ == Fault::kGroupBeforeCounter) {
      order = {Do::kCommit, Do::kWord, Do::kWake, Do::kCounter};
    }
    switch (order[static_cast<std::size_t>(state.writer_step)]) {
      case Do::kCommit: ++state.log; break;
      case Do::kCounter: ++state.counter; break;
      case Do::kWord: ++state.word; break;
      case Do::kWake: wake(state); break;
    }
    if (++state.writer_step == 4) {
      state.writer_step = 0;
      ++state.commits_done;
    }
    return true;
  }

  static void say_watched(State& state) {
    state.watched = true;
    state.nudged = true;
    if (state.thread_step == 3) state.thread_step = 0;
  }
  static void note(State& state) {
    state.counter_seen = state.counter;
    state.watch_listed = true;
  }

  /// Steps 0 to 2 make the watch and read once; step 3 waits for a call, step 4 reads again.
  bool reader(State& state) const {
    enum class Do { kWatched, kNote, kRead };
    std::vector<Do> order{Do::kWatched, Do::kNote, Do::kRead};
    if (fault_ == Fault::kReadBeforeNote) order = {Do::kWatched, Do::kRead, Do::kNote};
    if (state.reader_step < 3) {
      switch (order[static_cast<std::size_t>(state.reader_step)]) {
        case Do::kWatched: say_watched(state); break;
        case Do::kNote: note(state); break;
        case Do::kRead: state.read = state.log; break;
      }
      ++state.reader_step;
      return true;
    }
    if (state.reader_step == 3) {
      if (!state.called) return false;
      state.called = false;
      state.reader_step = 4;
      return true;
    }
    state.read = state.log;
    state.reader_step = 3;
    return true;
  }

  bool thread(State& state) const {
    switch (state.thread_step) {
      case 0:
        fault_ == Fault::kCompareBeforeNote ? compare(state) : note_word(state);
        state.thread_step = 1;
        return true;
      case 1:
        fault_ == Fault::kCompareBeforeNote ? note_word(state) : compare(state);
        state.thread_step = 2;
        return true;
      case 2: {
        const bool word_changed = state.listening && state.word != state.word_noted;
        const bool stays_awake = word_changed && fault_ != Fault::kSleepWithoutCompare;
        state.thread_step = stays_awake || state.nudged ? 0 : 3;
        return true;
      }
      default: return false;
    }
  }

  void note_word(State& state) const {
    if (state.nudged && fault_ != Fault::kNoNewGroupScan) state.scan = true;
    if (state.nudged && fault_ == Fault::kNoNewGroupScan) state.word_seen = state.word;
    state.nudged = false;
    state.listening = state.watched;
    state.word_noted = state.word;
    if (state.listening && state.word != state.word_seen) state.scan = true;
    state.word_seen = state.word;
  }
  void compare(State& state) const {
    const bool look = state.scan || fault_ == Fault::kCompareBeforeNote;
    state.scan = false;
    if (!look || !state.watch_listed || state.counter == state.counter_seen) return;
    state.counter_seen = state.counter;
    state.called = true;
  }

  const Fault fault_;
  std::set<State> seen_;
  int ends_ = 0;
  int stuck_ = 0;
};

TEST(BellModel, S10_NoInterleavingLosesAWakeUp) {
  Model model{Fault::kNone};
  model.explore();
  EXPECT_GT(model.states(), 500u);
  EXPECT_GT(model.ends(), 0);
  EXPECT_EQ(model.stuck(), 0) << "of " << model.states() << " states";
}

class BrokenBellModel : public ::testing::TestWithParam<Fault> {};

TEST_P(BrokenBellModel, IsFoundOut) {
  Model model{GetParam()};
  model.explore();
  EXPECT_GT(model.stuck(), 0) << "the search is too weak to see this fault";
}

INSTANTIATE_TEST_SUITE_P(EachRule, BrokenBellModel,
                         ::testing::Values(Fault::kRingBeforeCommit, Fault::kGroupBeforeCounter,
                                           Fault::kReadBeforeNote, Fault::kCompareBeforeNote,
                                           Fault::kSleepWithoutCompare, Fault::kNoNewGroupScan));

}  // namespace
}  // namespace holdfast::store
