#include "core/stream/offset_token.h"

#include <gtest/gtest.h>

namespace holdfast::core {
namespace {

TEST(OffsetToken, TextAndBackIsTheSameAndSortsLikeTheNumbers) {
  std::string previous;
  for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{9}, std::uint64_t{10},
                                    std::uint64_t{24'539}, kTokenOffsetMax}) {
    const std::string token = format_offset_token(Offset{value});
    EXPECT_EQ(parse_offset(token)->value, value);
    EXPECT_LT(previous, token);
    previous = token;
  }
}

TEST(OffsetToken, TheTwoWordsAreKnown) {
  EXPECT_EQ(parse_offset_token("-1")->kind, OffsetToken::Kind::kBeginning);
  EXPECT_EQ(parse_offset_token("now")->kind, OffsetToken::Kind::kNow);
  EXPECT_EQ(parse_offset_token("0000000000000000_0000000000000007")->offset.value, 7u);
}

TEST(OffsetToken, E5_AnythingElseIsRefused) {
  for (const char* bad :
       {"", "0", "42", "-2", "NOW", "0000000000000001_0000000000000000",
        "0000000000000000_000000000000000x", "0000000000000000_00000000000000000",
        "0000000000000000_0000000000000007 ", "0000000000000000-0000000000000007", "../../etc"}) {
    EXPECT_FALSE(parse_offset_token(bad).has_value()) << bad;
  }
  EXPECT_FALSE(parse_offset("now").has_value()) << "a cursor is always a token";
}

}  // namespace
}  // namespace holdfast::core
