#include <gtest/gtest.h>

#include <set>

#include <holdfast/check.h>
#include <holdfast/clock.h>
#include <holdfast/ids.h>
#include <holdfast/random.h>
#include <holdfast/result.h>

namespace holdfast {
namespace {

TEST(Error, EveryCodeHasANameARemedyAndStatuses) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(ErrorCode::kIo); ++i) {
    const auto code = static_cast<ErrorCode>(i);
    EXPECT_TRUE(names.insert(error_name(code)).second) << "name given twice: " << error_name(code);
    EXPECT_GE(http_status(code), 400);
    EXPECT_GT(exit_status(code), 1)
        << "0 is success and 1 is kept for crashes of the shell's making";
    EXPECT_FALSE(remedy_name(default_remedy(code)).empty());
  }
}

TEST(Error, CarriesItsNumbers) {
  const Result<int> gap = fail(Error{ErrorCode::kSequenceGap, "gap"}.with(3, 7));
  ASSERT_FALSE(gap.has_value());
  EXPECT_EQ(gap.error().expected, 3u);
  EXPECT_EQ(gap.error().actual, 7u);
  EXPECT_EQ(gap.error().remedy, Remedy::kFixRequest);
}

TEST(Ulid, TextAndBackIsTheSame) {
  Random random{7};
  for (int i = 0; i < 1'000; ++i) {
    const auto id = Ulid::make(random.next() >> 16, random);
    const auto back = Ulid::parse(id.text());
    ASSERT_TRUE(back.has_value());
    EXPECT_EQ(*back, id);
  }
}

TEST(Ulid, KnownTextHasItsTime) {
  const auto id = Ulid::parse("01ARZ3NDEKTSV4RRFFQ69G5FAV");  // the specification's example
  ASSERT_TRUE(id.has_value());
  EXPECT_EQ(id->time_ms(), 1'469'922'850'259u);
  EXPECT_EQ(id->text(), "01ARZ3NDEKTSV4RRFFQ69G5FAV");
}

TEST(Ulid, SortsByTimeAsText) {
  Random random{1};
  EXPECT_LT(Ulid::make(1'000, random).text(), Ulid::make(1'001, random).text());
  EXPECT_LT(Ulid::make(1'000, random), Ulid::make(1'001, random));
}

TEST(Ulid, RefusesWhatIsNotOne) {
  for (const char* bad : {"", "01ARZ3NDEKTSV4RRFFQ69G5FA", "81ARZ3NDEKTSV4RRFFQ69G5FAV",
                          "01ARZ3NDEKTSV4RRFFQ69G5FAU", "01ARZ3NDEKTSV4RRFFQ69G5FAVX"}) {
    EXPECT_FALSE(Ulid::parse(bad).has_value()) << bad;
  }
}

TEST(Random, SameSeedSameNumbers) {
  Random a{42};
  Random b{42};
  Random c{43};
  EXPECT_EQ(a.next(), b.next());
  EXPECT_NE(a.next(), c.next());
}

TEST(Random, BelowStaysBelowAndReachesEverything) {
  Random random{5};
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1'000; ++i) {
    const auto value = random.below(7);
    ASSERT_LT(value, 7u);
    seen.insert(value);
  }
  EXPECT_EQ(seen.size(), 7u);
}

TEST(ManualClock, MovesOnlyWhenTold) {
  ManualClock clock{{100}};
  EXPECT_EQ(clock.now().ms, 100);
  clock.advance_ms(-50);
  EXPECT_EQ(clock.now().ms, 50);
}

TEST(CheckDeathTest, NamesConditionAndNote) {
  EXPECT_DEATH(HOLDFAST_CHECK(1 == 2, "arithmetic broke"), "1 == 2.*arithmetic broke");
}

}  // namespace
}  // namespace holdfast
