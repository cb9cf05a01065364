// Forks: the past is shared and stays, whoever is deleted, whenever a process dies.
#include <map>

#include <holdfast/random.h>

#include "cut_store.h"
#include "streams_fixture.h"

namespace holdfast::suite {
namespace {

using namespace std::chrono_literals;

class StreamForks : public StreamSuite {};

TEST_P(StreamForks, CostTheSameAtAnyLength) {
  std::vector<Cost> costs;
  for (const std::size_t length : {200u, 20'000u}) {
    const std::string name = "s" + std::to_string(length);
    make_filled(name, length);
    costs.push_back(cost_of([&] { ok(streams().fork(name, name + "/fork")); }));
  }
  EXPECT_EQ(costs[0].commits, 3u);
  EXPECT_EQ(costs[1].commits, costs[0].commits);
  EXPECT_EQ(costs[1].reads, costs[0].reads);
  EXPECT_EQ(costs[1].records_read, costs[0].records_read);
}

TEST_P(StreamForks, OfForksReadWhatEachOneSharesAndNothingElse) {
  Stream a = make_filled("a", 10);
  Stream b = ok(streams().fork("a", "b", {.at = Offset{6}})).stream;
  ok(b.append("b6"));
  ok(b.append("b7"));
  Stream c = ok(streams().fork("b", "c", {.at = Offset{7}})).stream;
  ok(c.append("c7"));
  Stream d = ok(streams().fork("c", "d", {.at = Offset{3}})).stream;
  ok(d.append("d3"));
  EXPECT_EQ(all(b), (Texts{"0", "1", "2", "3", "4", "5", "b6", "b7"}));
  EXPECT_EQ(all(c), (Texts{"0", "1", "2", "3", "4", "5", "b6", "c7"}));
  EXPECT_EQ(all(d), (Texts{"0", "1", "2", "d3"}));
  EXPECT_EQ(all(a).size(), 10u);
  EXPECT_EQ(all(c, {.records_max = 1}), all(c)) << "page by page the same";
  EXPECT_EQ(all(c, {.bytes_max = 1}), all(c));
  const StreamInfo info = ok(c.info());
  EXPECT_EQ(info.forked_from, "b");
  EXPECT_EQ(info.fork_offset, Offset{7});
  EXPECT_EQ(info.first, Offset{0});
  EXPECT_EQ(texts(ok(c.read({.from = From::last(3)}))), (Texts{"5", "b6", "c7"}));
}

TEST_P(StreamForks, SubOffsetsTakePartOfWhatFollows) {
  make("text", {.content_type = "text/plain", .chunks = {"first", "second"}});
  const Stream part = ok(streams().fork("text", "part", {Offset{1}, 3})).stream;
  EXPECT_EQ(all(part), (Texts{"first", "sec"}));
  const Stream with = ok(streams().fork("text", "with", {Offset{0}, 5}, {.chunks = {"!"}})).stream;
  EXPECT_EQ(all(with), (Texts{"first", "!"}));
  EXPECT_EQ(all(ok(streams().fork("part", "part/part", {Offset{1}, 2})).stream),
            (Texts{"first", "se"}));
  refused(streams().fork("text", "x", {Offset{1}, 7}), ErrorCode::kInvalidArgument);
  refused(streams().fork("text", "x", {{}, 1}), ErrorCode::kInvalidArgument);
  refused(streams().fork("text", "x", {.at = Offset{3}}), ErrorCode::kInvalidArgument);
  make("json", {.content_type = "application/json", .chunks = {"1", "2", "3"}});
  EXPECT_EQ(all(ok(streams().fork("json", "two", {Offset{0}, 2})).stream), (Texts{"1", "2"}));
  refused(streams().fork("json", "x", {Offset{0}, 4}), ErrorCode::kInvalidArgument);
  EXPECT_FALSE(ok(streams().fork("text", "part", {Offset{1}, 3})).created);
  refused(streams().fork("text", "part", {Offset{1}, 2}), ErrorCode::kAlreadyExists);
  refused(streams().fork("text", "two", {Offset{0}, 2}), ErrorCode::kAlreadyExists);
}

TEST_P(StreamForks, InheritWhatTheyAreNotGiven) {
  make("a", {.content_type = "text/plain", .ttl = 60s, .closed = true});
  Stream fork = ok(streams().fork("a", "b")).stream;
  EXPECT_EQ(ok(fork.info()).content_type, "text/plain");
  EXPECT_EQ(ok(fork.info()).ttl, std::optional{60s});
  EXPECT_FALSE(ok(fork.info()).closed) << "a fork of a closed stream is open";
  ok(fork.append("x"));
  EXPECT_EQ(ok(ok(streams().fork("a", "c", {}, {.ttl = 5s})).stream.info()).ttl, std::optional{5s});
  refused(streams().fork("a", "d", {}, {.content_type = "text/html"}), ErrorCode::kConflict);
  refused(streams().fork("nothing", "d"), ErrorCode::kNotFound);
  ok(streams().remove("b"));
  ok(streams().remove("c"));
  ok(streams().remove("a"));
  refused(streams().open("a"), ErrorCode::kNotFound);
}

TEST_P(StreamForks, ProducersAreNotInherited) {
  Stream a = make("a");
  ok(a.append("x", {.producer = Producer{"p", 0, 0}}));
  Stream b = ok(streams().fork("a", "b")).stream;
  EXPECT_FALSE(ok(b.append("y", {.producer = Producer{"p", 0, 0}})).duplicate);
  EXPECT_EQ(all(b), (Texts{"x", "y"}));
}

TEST_P(StreamForks, KeepADeletedSourceUntilTheLastIsGone) {
  Stream a = make_filled("a", 5);
  ok(streams().fork("a", "b"));
  ok(streams().fork("b", "c"));
  ok(streams().remove("a"));
  ok(streams().remove("b"));
  refused(streams().open("a"), ErrorCode::kGone);
  refused(streams().remove("a"), ErrorCode::kGone);
  refused(streams().create("a"), ErrorCode::kConflict);
  refused(streams().fork("a", "d"), ErrorCode::kConflict);
  refused(a.append("x"), ErrorCode::kGone);
  refused(a.read(), ErrorCode::kGone);
  EXPECT_EQ(ok(streams().list()).streams.size(), 1u);
  EXPECT_EQ(all(ok(streams().open("c"))).size(), 5u);
  ok(streams().remove("c"));
  refused(streams().open("a"), ErrorCode::kNotFound);
  refused(streams().open("b"), ErrorCode::kNotFound);
  EXPECT_EQ(leftovers(store()), Texts{});
  EXPECT_TRUE(ok(streams().create("a")).created);
}

TEST_P(StreamForks, KeepWhatTheirSourceTrims) {
  Stream a = make_filled("a", 100);
  Stream b = ok(streams().fork("a", "b")).stream;
  ok(a.trim(Offset{50}));
  EXPECT_EQ(ok(a.tail()).first, Offset{50});
  EXPECT_EQ(refused(a.read({.from = Offset{10}}), ErrorCode::kGone).actual, 50u);
  EXPECT_EQ(all(a).size(), 50u);
  EXPECT_EQ(all(b).size(), 100u);
  // Another process opens it and sees the same.
  Streams other{store(), clock(), Random{9}};
  EXPECT_EQ(all(ok(other.open("a"))).size(), 50u);
  ok(streams().remove("b"));
  const LogKey log = ok(store().logs({}, 1)).at(0);
  EXPECT_EQ(ok(store().tail(log)).first, Offset{50}) << "kept for the fork alone";
}

TEST_P(StreamForks, AreTrimmedWithoutTouchingTheirSource) {
  Stream a = make_filled("a", 10);
  Stream b = ok(streams().fork("a", "b")).stream;
  for (int i = 10; i < 20; ++i) ok(b.append(std::to_string(i)));
  ok(b.trim(Offset{4}));
  EXPECT_EQ(all(b).size(), 16u);
  EXPECT_EQ(all(b).front(), "4");
  ok(b.trim(Offset{15}));
  EXPECT_EQ(all(b), (Texts{"15", "16", "17", "18", "19"}));
  EXPECT_EQ(refused(b.read({.from = Offset{5}}), ErrorCode::kGone).actual, 15u);
  EXPECT_EQ(all(a).size(), 10u);
  Stream c = ok(streams().fork("b", "c")).stream;
  EXPECT_EQ(all(c), all(b));
}

TEST_P(StreamForks, OutliveASourceThatExpires) {
  make("a", {.ttl = 2s, .chunks = {"x"}});
  Stream b = ok(streams().fork("a", "b", {}, {.ttl = 100s})).stream;
  clock().advance_ms(5'000);
  ok(streams().sweep());
  refused(streams().open("a"), ErrorCode::kGone);
  EXPECT_EQ(all(b), (Texts{"x"}));
  clock().advance_ms(200'000);
  ok(streams().sweep());
  EXPECT_EQ(leftovers(store()), Texts{});
}

// Random forks, appends, trims and deletions, compared with streams that copy.
TEST_P(StreamForks, ReadAsIfTheyWereCopies) {
  Random random{3};
  struct Model {
    std::uint64_t first = 0;
    Texts chunks;  // from offset 0, trimmed ones included
  };
  for (int round = 0; round < 4; ++round) {
    std::map<std::string, Model> models;
    const auto any = [&] {
      auto at = models.begin();
      std::advance(at, static_cast<std::ptrdiff_t>(random.below(models.size())));
      return at;
    };
    int made = 0;
    for (int step = 0; step < 150; ++step) {
      const std::string fresh = "r" + std::to_string(round) + "/" + std::to_string(made);
      if (models.empty()) {
        make(fresh);
        models[fresh];
        ++made;
        continue;
      }
      const auto at = any();
      auto& [name, model] = *at;
      Stream stream = ok(streams().open(name));
      switch (random.below(6)) {
        case 0: {
          const std::uint64_t where =
              model.first + random.below(model.chunks.size() - model.first + 1);
          ok(streams().fork(name, fresh, {.at = Offset{where}}));
          models[fresh] = {
              std::min(model.first, where),
              {model.chunks.begin(), model.chunks.begin() + static_cast<std::ptrdiff_t>(where)}};
          ++made;
          break;
        }
        case 1: {
          const std::uint64_t to = random.below(model.chunks.size() + 1);
          ok(stream.trim(Offset{to}));
          model.first = std::max(model.first, to);
          break;
        }
        case 2:
          if (random.one_in(2)) {
            ok(streams().remove(name));
            models.erase(at);
          }
          break;
        default: {
          const std::string text = name + "@" + std::to_string(step);
          ok(stream.append(text));
          model.chunks.push_back(text);
        }
      }
      for (const auto& [each, expected] : models) {
        const Stream now = ok(streams().open(each));
        const Texts want{expected.chunks.begin() + static_cast<std::ptrdiff_t>(expected.first),
                         expected.chunks.end()};
        ASSERT_EQ(all(now, {.records_max = 1 + random.below(5)}), want) << each;
        ASSERT_EQ(ok(now.tail()).first.value, expected.first) << each;
      }
    }
    while (!models.empty()) {
      ok(streams().remove(models.begin()->first));
      models.erase(models.begin());
    }
    ASSERT_EQ(leftovers(store()), Texts{});
  }
}

// The process dies after each of the commits that an operation takes, in turn; the next one sweeps.
class StreamForkCrashes : public StreamForks {
 protected:
  // Runs `work` until it has been cut after 0, 1, 2, … commits and finally was not. `check` gets
  // the streams of the process that came after.
  void cut_everywhere(const std::function<void()>& prepare,
                      const std::function<void(Streams&)>& work,
                      const std::function<void(Streams&)>& check) {
    std::size_t points = 0;
    for (bool finished = false; !finished; ++points) {
      prepare();
      {
        CutStore cut{store(), points};
        Streams mortal{cut, clock(), Random{100 + points}};
        work(mortal);
        finished = !cut.cut();
      }
      clock().advance_ms(60'000);
      Streams next{store(), clock(), Random{500 + points}};
      ok(next.sweep());
      check(next);
      for (const StreamInfo& info : ok(next.list()).streams) ok(next.remove(info.name));
      clock().advance_ms(100'000'000);
      ok(next.sweep());
      ok(next.sweep());
      ASSERT_EQ(leftovers(store()), Texts{}) << "after " << points << " commits";
    }
    EXPECT_GE(points, 3u);
  }
};

TEST_P(StreamForkCrashes, AForkIsThereOrNotAndItsSourceNeverPinnedForNothing) {
  cut_everywhere([&] { make_filled("a", 5); },
                 [](Streams& mortal) { (void)mortal.fork("a", "b", {.at = Offset{3}}); },
                 [&](Streams& next) {
                   const auto b = next.open("b");
                   ok(next.remove("a"));
                   if (b) {
                     EXPECT_EQ(all(*b), (Texts{"0", "1", "2"}));
                     refused(next.open("a"), ErrorCode::kGone);
                   } else {
                     EXPECT_EQ(b.error().code, ErrorCode::kNotFound);
                     refused(next.open("a"), ErrorCode::kNotFound);
                   }
                 });
}

TEST_P(StreamForkCrashes, DeletionsCascadeWhenTheyAreFinishedByAnother) {
  cut_everywhere(
      [&] {
        make_filled("a", 5);
        ok(streams().fork("a", "b"));
        Stream c = ok(streams().fork("b", "c")).stream;
        ok(c.append("x", {.producer = Producer{"p", 0, 0}}));
        ok(streams().remove("a"));
        ok(streams().remove("b"));
      },
      [](Streams& mortal) { (void)mortal.remove("c"); },
      [&](Streams& next) {
        const auto c = next.open("c");
        for (const char* ancestor : {"a", "b"})
          refused(next.open(ancestor), c ? ErrorCode::kGone : ErrorCode::kNotFound);
        if (c) {
          EXPECT_EQ(all(*c).size(), 6u);
        }
      });
}

TEST_P(StreamForkCrashes, AForkThatIsMadeWhileItsPinIsUndoneIsMadeAgain) {
  make_filled("a", 5);
  {
    CutStore cut{store(), 1};
    Streams mortal{cut, clock(), Random{1}};
    refused(mortal.fork("a", "b"), ErrorCode::kStopped);
  }
  // The pin stands, but no fork; the next fork of that name is not confused by it.
  Stream b = ok(streams().fork("a", "b")).stream;
  clock().advance_ms(60'000);
  ok(streams().sweep());
  ok(streams().remove("a"));
  refused(streams().open("a"), ErrorCode::kGone);
  EXPECT_EQ(all(b).size(), 5u);
  ok(streams().remove("b"));
  refused(streams().open("a"), ErrorCode::kNotFound);
}

HOLDFAST_OVER_ALL_STORES(StreamForks);
HOLDFAST_OVER_ALL_STORES(StreamForkCrashes);

}  // namespace
}  // namespace holdfast::suite
