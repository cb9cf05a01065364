#include "core/stream/fork_plan.h"

#include <gtest/gtest.h>

#include <holdfast/random.h>

namespace holdfast::core {
namespace {

struct PointCase {
  const char* what;
  ForkOptions where;
  bool json;
  std::uint64_t first;
  std::uint64_t tail;
  std::optional<ErrorCode> error;
  std::uint64_t at;
  std::uint64_t base;
  std::uint64_t prefix_bytes;
};

TEST(ForkPlan, WhereAForkLeavesItsSource) {
  const auto at = [](std::uint64_t offset, std::uint64_t sub = 0) {
    return ForkOptions{.at = Offset{offset}, .sub_offset = sub};
  };
  const PointCase cases[] = {
      {"the tail by default", {}, false, 0, 7, {}, 7, 7, 0},
      {"nothing", at(0), false, 0, 7, {}, 0, 0, 0},
      {"a place", at(3), true, 0, 7, {}, 3, 3, 0},
      {"beyond the tail", at(8), true, 0, 7, ErrorCode::kInvalidArgument, 0, 0, 0},
      {"of what was trimmed", at(2), true, 3, 7, ErrorCode::kGone, 0, 0, 0},
      {"nothing, of what was trimmed", at(0), true, 3, 7, {}, 0, 0, 0},
      {"some chunks more", at(3, 2), true, 0, 7, {}, 3, 5, 0},
      {"all chunks more", at(3, 4), true, 0, 7, {}, 3, 7, 0},
      {"more chunks than there are", at(3, 5), true, 0, 7, ErrorCode::kInvalidArgument, 0, 0, 0},
      {"a part of a chunk", at(3, 5), false, 0, 7, {}, 3, 3, 5},
      {"a part of no chunk", at(7, 1), false, 0, 7, ErrorCode::kInvalidArgument, 0, 0, 0},
      {"a part, past the default", ForkOptions{.sub_offset = 1}, false, 0, 7,
       ErrorCode::kInvalidArgument, 0, 0, 0},
  };
  for (const PointCase& c : cases) {
    const auto point = plan_fork_point(c.where, c.json, Offset{c.first}, Offset{c.tail});
    ASSERT_EQ(point.has_value(), !c.error) << c.what;
    if (c.error) {
      EXPECT_EQ(point.error().code, *c.error) << c.what;
    } else {
      EXPECT_EQ(point->at.value, c.at) << c.what;
      EXPECT_EQ(point->base.value, c.base) << c.what;
      EXPECT_EQ(point->prefix_bytes, c.prefix_bytes) << c.what;
    }
  }
}

TEST(ForkPlan, AForkOfAForkNamesTheLogsThatHoldItsPast) {
  Random random{1};
  StreamRecord a;
  a.id = Ulid::make(1, random);
  StreamRecord b;
  b.id = Ulid::make(2, random);
  b.base = {40};
  b.segments = *plan_segments("a", a, Offset{0}, Offset{40});
  ASSERT_EQ(b.segments.size(), 1u);
  StreamRecord c;
  c.id = Ulid::make(3, random);
  c.base = {100};
  c.segments = *plan_segments("b", b, Offset{0}, Offset{100});
  EXPECT_EQ(c.segments, (std::vector<Segment>{{"a", a.id, Offset{40}}, {"b", b.id, Offset{100}}}));

  EXPECT_EQ(serving_log("c", c, Offset{0}).log, stream_log("a", a.id));
  EXPECT_EQ(serving_log("c", c, Offset{39}).end, Offset{40});
  EXPECT_EQ(serving_log("c", c, Offset{40}).log, stream_log("b", b.id));
  EXPECT_EQ(serving_log("c", c, Offset{100}).log, stream_log("c", c.id));
  EXPECT_FALSE(serving_log("c", c, Offset{100}).end.has_value());

  // Left inside what was inherited, the one between is not needed.
  EXPECT_EQ(*plan_segments("b", b, Offset{0}, Offset{10}),
            (std::vector<Segment>{{"a", a.id, Offset{10}}}));
  EXPECT_EQ(*plan_segments("b", b, Offset{0}, Offset{40}),
            (std::vector<Segment>{{"a", a.id, Offset{40}}}));
  // What is no longer shown is not inherited.
  EXPECT_EQ(*plan_segments("b", b, Offset{40}, Offset{60}),
            (std::vector<Segment>{{"b", b.id, Offset{60}}}));
  EXPECT_TRUE(plan_segments("b", b, Offset{60}, Offset{60})->empty());
}

TEST(ForkPlan, AncestorsAreBounded) {
  StreamRecord record;
  for (std::uint64_t i = 1; i <= kSegmentsMax; ++i) record.segments.push_back({"s", {}, Offset{i}});
  const auto refused = plan_segments("x", record, Offset{0}, Offset{kSegmentsMax + 5});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kTooLarge);
}

TEST(ForkPlan, TheFirstShownCountsInheritedChunksUntilTheyAreTrimmed) {
  StreamRecord plain;
  EXPECT_EQ(shown_first(plain, Offset{5}), Offset{5});
  plain.first = {9};
  EXPECT_EQ(shown_first(plain, Offset{5}), Offset{9});
  StreamRecord fork;
  fork.base = {40};
  fork.segments = {{"a", {}, Offset{40}}};
  EXPECT_EQ(shown_first(fork, Offset{40}), Offset{0});
  fork.first = {7};
  EXPECT_EQ(shown_first(fork, Offset{40}), Offset{7});
  EXPECT_EQ(shown_first(fork, Offset{41}), Offset{41});
}

}  // namespace
}  // namespace holdfast::core
