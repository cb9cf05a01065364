#include "core/stream/producer.h"

#include <gtest/gtest.h>

namespace holdfast::core {
namespace {

struct Case {
  const char* what;
  std::optional<ProducerState> state;
  std::uint64_t epoch;
  std::uint64_t seq;
  std::optional<ErrorCode> error;
  bool duplicate;
  ProducerState after;         // of an answer
  std::uint64_t expected = 0;  // of an error
  std::uint64_t actual = 0;
};

// One line for each transition of the table in producer.h.
TEST(Producer, S11_EveryTransitionOfTheTable) {
  const Case cases[] = {
      {"first ever", {}, 0, 0, {}, false, {0, 0}},
      {"first ever in a later epoch", {}, 7, 0, {}, false, {7, 0}},
      {"first ever with a gap", {}, 0, 3, ErrorCode::kSequenceGap, false, {}, 0, 3},
      {"stale epoch", ProducerState{5, 2}, 4, 3, ErrorCode::kFenced, false, {}, 4, 5},
      {"stale epoch, seq 0", ProducerState{5, 2}, 4, 0, ErrorCode::kFenced, false, {}, 4, 5},
      {"duplicate of the last", ProducerState{5, 2}, 5, 2, {}, true, {5, 2}},
      {"duplicate of an older one", ProducerState{5, 9}, 5, 0, {}, true, {5, 9}},
      {"next", ProducerState{5, 2}, 5, 3, {}, false, {5, 3}},
      {"gap", ProducerState{5, 2}, 5, 5, ErrorCode::kSequenceGap, false, {}, 3, 5},
      {"new epoch", ProducerState{5, 2}, 6, 0, {}, false, {6, 0}},
      {"new epoch in the middle",
       ProducerState{5, 2},
       6,
       3,
       ErrorCode::kInvalidArgument,
       false,
       {},
       0,
       3},
  };
  for (const Case& c : cases) {
    const auto decision = decide_producer(c.state, "p", c.epoch, c.seq);
    ASSERT_EQ(decision.has_value(), !c.error.has_value()) << c.what;
    if (c.error) {
      EXPECT_EQ(decision.error().code, *c.error) << c.what;
      EXPECT_EQ(decision.error().expected, c.expected) << c.what;
      EXPECT_EQ(decision.error().actual, c.actual) << c.what;
    } else {
      EXPECT_EQ(decision->duplicate, c.duplicate) << c.what;
      EXPECT_EQ(decision->after, c.after) << c.what;
    }
  }
}

TEST(Producer, RowAndBackIsTheSame) {
  const ProducerState state{~std::uint64_t{0}, 1'234'567};
  EXPECT_EQ(*decode_producer(encode_producer(state)), state);
}

TEST(Producer, E2_ARowThatIsNotOneIsNamed) {
  const Bytes good = encode_producer({300, 7});
  for (std::size_t cut = 0; cut < good.size(); ++cut)
    EXPECT_FALSE(decode_producer(good.substr(0, cut)).has_value()) << cut;
  EXPECT_EQ(decode_producer(good + "x").error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(decode_producer("\x09" + good.substr(1)).error().code, ErrorCode::kSchema);
}

TEST(Producer, E5_IdsAreBounded) {
  EXPECT_TRUE(check_producer_id("p").has_value());
  EXPECT_FALSE(check_producer_id("").has_value());
  EXPECT_FALSE(check_producer_id(std::string(kProducerIdBytesMax + 1, 'p')).has_value());
}

}  // namespace
}  // namespace holdfast::core
