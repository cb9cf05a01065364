#include "cli/args/values.h"

#include <gtest/gtest.h>

namespace holdfast::cli {
namespace {

template <typename T>
T value_of(std::string_view text) {
  T value{};
  const auto ok = read_value("--x", text, value);
  EXPECT_TRUE(ok) << text << ": " << (ok ? "" : ok.error().message);
  return value;
}

template <typename T>
std::string refusal_of(std::string_view text) {
  T value{};
  const auto ok = read_value("--x", text, value);
  EXPECT_FALSE(ok) << text;
  if (ok) return {};
  EXPECT_EQ(ok.error().code, ErrorCode::kInvalidArgument);
  return ok.error().message;
}

TEST(Values, CountsAreWholeNumbersThatMayBeGrouped) {
  EXPECT_EQ(value_of<std::uint64_t>("0"), 0u);
  EXPECT_EQ(value_of<std::uint64_t>("1_000_000"), 1'000'000u);
  EXPECT_EQ(value_of<std::uint64_t>("24,539"), 24'539u);
  EXPECT_EQ(value_of<std::uint64_t>("18446744073709551615"), 18446744073709551615u);
  for (const auto* bad : {"", "-1", "1.5", "18446744073709551616", "_1", "1_", "0x10", " 1"}) {
    EXPECT_NE(refusal_of<std::uint64_t>(bad).find("--x wants a whole number"), std::string::npos);
  }
}

TEST(Values, PortsEndAt65535) {
  EXPECT_EQ(value_of<std::uint16_t>("65535"), 65535);
  refusal_of<std::uint16_t>("65536");
}

TEST(Values, SizesHavePowersOf1000And1024) {
  EXPECT_EQ(value_of<ByteCount>("4096").value, 4096u);
  EXPECT_EQ(value_of<ByteCount>("64k").value, 64'000u);
  EXPECT_EQ(value_of<ByteCount>("64KiB").value, 65'536u);
  EXPECT_EQ(value_of<ByteCount>("1.5MiB").value, 1'572'864u);
  EXPECT_EQ(value_of<ByteCount>("2GB").value, 2'000'000'000u);
  for (const auto* bad : {"", "k", "5x", "-5", "1..5k", "nan", "99999999T"}) {
    refusal_of<ByteCount>(bad);
  }
}

TEST(Values, TimesAddUp) {
  using std::chrono::milliseconds;
  EXPECT_EQ(value_of<milliseconds>("90"), milliseconds{90'000});
  EXPECT_EQ(value_of<milliseconds>("250ms"), milliseconds{250});
  EXPECT_EQ(value_of<milliseconds>("1h30m"), milliseconds{5'400'000});
  EXPECT_EQ(value_of<milliseconds>("7d"), milliseconds{604'800'000});
  for (const auto* bad : {"", "h", "1y", "-1s", "1h30", "soon"}) refusal_of<milliseconds>(bad);
  refusal_of<std::chrono::seconds>("900ms");
}

TEST(Values, MomentsAreInUtc) {
  EXPECT_EQ(value_of<Timestamp>("1970-01-01T00:00:01Z").ms, 1000);
  EXPECT_EQ(value_of<Timestamp>("2026-03-01 12:00").ms, 1'772'366'400'000);
  EXPECT_EQ(value_of<Timestamp>("2026-03-01").ms, 1'772'323'200'000);
  const auto before = system_clock().now().ms;
  EXPECT_GE(value_of<Timestamp>("+2h").ms, before + 7'200'000);
  for (const auto* bad : {"", "2026-13-01", "2026-02-30", "2026-03-01T25:00", "tomorrow", "+"}) {
    refusal_of<Timestamp>(bad);
  }
}

TEST(Values, PlacesInAStreamAreOffsetsOrCountFromTheTail) {
  EXPECT_EQ(value_of<From>("beginning").kind(), From::Kind::kBeginning);
  EXPECT_EQ(value_of<From>("0").kind(), From::Kind::kAt);
  EXPECT_EQ(value_of<From>("42").value(), 42u);
  EXPECT_EQ(value_of<From>("-5").kind(), From::Kind::kLast);
  EXPECT_EQ(value_of<From>("-5").value(), 5u);
  EXPECT_EQ(value_of<From>("tail").kind(), From::Kind::kLast);
  EXPECT_EQ(value_of<From>("tail").value(), 0u);
  for (const auto* bad : {"", "-", "--5", "now", "1.5"}) refusal_of<From>(bad);
}

TEST(Values, ARefusalKeepsTheOldValueAndQuotesTheNewOneSafely) {
  std::uint64_t value = 7;
  const auto ok = read_value("--limit", std::string_view{"a\x1b[2J\0b", 7}, value);
  ASSERT_FALSE(ok);
  EXPECT_EQ(value, 7u);
  EXPECT_EQ(ok.error().message, "--limit wants a whole number, not 'a\\x1b[2J\\x00b'");
}

}  // namespace
}  // namespace holdfast::cli
