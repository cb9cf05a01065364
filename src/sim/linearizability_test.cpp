#include "sim/linearizability.h"

#include <gtest/gtest.h>

#include <holdfast/random.h>

namespace holdfast::sim {
namespace {

using Kind = LogOperation::Kind;
using Outcome = LogOperation::Outcome;

LogOperation append(std::uint64_t called, std::uint64_t returned, std::uint64_t value,
                    std::uint64_t at) {
  return {
      .kind = Kind::kAppend, .called = called, .returned = returned, .values = {value}, .at = at};
}
LogOperation read(std::uint64_t called, std::uint64_t returned, std::vector<std::uint64_t> values) {
  return {.kind = Kind::kRead,
          .called = called,
          .returned = returned,
          .values = std::move(values),
          .to_tail = true};
}
LogOperation tail(std::uint64_t called, std::uint64_t returned, std::uint64_t at) {
  return {.kind = Kind::kTail, .called = called, .returned = returned, .at = at};
}
bool possible(std::vector<LogOperation> history) { return linearize(history).possible; }

TEST(Linearize, TakesNothing) { EXPECT_TRUE(possible({})); }

TEST(Linearize, TakesOneClient) {
  EXPECT_TRUE(
      possible({append(1, 2, 10, 0), tail(3, 4, 1), append(5, 6, 11, 1), read(7, 8, {10, 11})}));
}

TEST(Linearize, LetsOverlappingOperationsTakeEitherOrder) {
  EXPECT_TRUE(possible({append(1, 4, 10, 1), append(2, 3, 11, 0)}));
  EXPECT_TRUE(possible({append(1, 4, 10, 0), tail(2, 3, 0)}));
  EXPECT_TRUE(possible({append(1, 4, 10, 0), tail(2, 3, 1)}));
}

TEST(Linearize, RefusesAnOrderAgainstTime) {
  EXPECT_FALSE(possible({append(1, 2, 10, 1), append(3, 4, 11, 0)}));
}

TEST(Linearize, RefusesAStaleRead) {
  EXPECT_FALSE(possible({append(1, 2, 10, 0), tail(3, 4, 0)}));
  EXPECT_FALSE(possible({append(1, 2, 10, 0), append(3, 4, 11, 1), read(5, 6, {10})}));
}

TEST(Linearize, RefusesAReadFromTheFuture) {
  EXPECT_FALSE(possible({read(1, 2, {10}), append(3, 4, 10, 0)}));
}

TEST(Linearize, RefusesReadsThatGoBack) {
  EXPECT_FALSE(possible({append(1, 10, 10, 0), tail(2, 3, 1), tail(4, 5, 0)}));
  EXPECT_TRUE(possible({append(1, 10, 10, 0), tail(2, 3, 0), tail(4, 5, 1)}));
}

TEST(Linearize, RefusesAnOffsetGivenTwice) {
  EXPECT_FALSE(possible({append(1, 4, 10, 0), append(2, 3, 11, 0)}));
}

TEST(Linearize, RefusesAHole) {
  EXPECT_FALSE(possible({append(1, 2, 10, 0), append(3, 4, 11, 2)}));
}

TEST(Linearize, JudgesExpectedTails) {
  LogOperation won = append(1, 4, 10, 0);
  won.expected_tail = 0;
  LogOperation lost = append(2, 3, 11, 1);
  lost.expected_tail = 0;
  lost.outcome = Outcome::kStale;
  EXPECT_TRUE(possible({won, lost}));
  lost.at = 2;  // no tail was ever 2
  EXPECT_FALSE(possible({won, lost}));
  lost.outcome = Outcome::kOk;  // two winners
  lost.at = 1;
  EXPECT_FALSE(possible({won, lost}));
}

TEST(Linearize, JudgesClosing) {
  LogOperation closing = append(1, 4, 10, 0);
  closing.closes = true;
  LogOperation late = append(5, 6, 11, 1);
  EXPECT_FALSE(possible({closing, late}));
  late.outcome = Outcome::kClosed;
  EXPECT_TRUE(possible({closing, late}));
  LogOperation early = late;
  early.called = 0;
  early.returned = 2;
  EXPECT_TRUE(possible({closing, early}));
  closing.called = 3;
  EXPECT_FALSE(possible({closing, early}));  // refused before anyone closed it
}

TEST(Linearize, LetsALostAnswerHaveHappenedOrNot) {
  LogOperation lost = append(1, LogOperation::kNever, 10, 0);
  lost.outcome = Outcome::kUnknown;
  EXPECT_TRUE(possible({lost, tail(2, 3, 0)}));
  EXPECT_TRUE(possible({lost, tail(2, 3, 1)}));
  EXPECT_TRUE(possible({lost, tail(2, 3, 0), tail(4, 5, 1)}));   // late
  EXPECT_FALSE(possible({lost, tail(2, 3, 1), tail(4, 5, 0)}));  // but not undone
  EXPECT_FALSE(possible({lost, tail(2, 3, 2)}));                 // nor twice
}

TEST(Linearize, FindsOneOrderAmongManyAndOneFaultAmongThem) {
  // Sixteen clients whose appends all overlap; the reads afterwards fix the one order.
  std::vector<LogOperation> history;
  std::vector<std::uint64_t> all;
  for (std::uint64_t i = 0; i < 16; ++i) {
    history.push_back(append(i, 1'000 + i, 100 + i, 15 - i));
    all.insert(all.begin(), 100 + i);
  }
  history.push_back(read(2'000, 2'001, all));
  EXPECT_TRUE(possible(history));
  std::swap(history.back().values[3], history.back().values[4]);
  const Linearization judged = linearize(history);
  EXPECT_FALSE(judged.possible);
  EXPECT_FALSE(judged.best.empty());
}

}  // namespace
}  // namespace holdfast::sim
