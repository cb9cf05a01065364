#include "core/log/names.h"

#include <gtest/gtest.h>

#include <string>

#include <holdfast/stream.h>

namespace holdfast::core {
namespace {

TEST(Names, PlainNamesPass) {
  for (const char* good : {"a", "chat/1", "über/日本", "with space", "a..b", "...", "%2e"}) {
    EXPECT_TRUE(check_stream_name(good).has_value()) << good;
  }
  EXPECT_TRUE(check_stream_name(std::string(kStreamNameBytesMax, 'x')).has_value());
}

TEST(Names, E5_NamesCannotLeaveTheirPlace) {
  using namespace std::string_literals;
  for (const std::string& bad :
       {""s, "/"s, "/a"s, "a/"s, "a//b"s, "."s, ".."s, "a/../b"s, "a\0b"s, "a\nb"s, "\x7f"s,
        "\xc2\x85"s, "\xff"s, "\xc0\xaf"s, "\xed\xa0\x80"s, "\xf4\x90\x80\x80"s,
        std::string(kStreamNameBytesMax + 1, 'x')}) {
    const auto result = check_stream_name(bad);
    ASSERT_FALSE(result.has_value()) << bad;
    EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);
    EXPECT_TRUE(is_utf8(result.error().message))
        << "an error must be printable: " << result.error().message;
  }
}

TEST(Names, TheErrorSaysWhere) {
  EXPECT_NE(check_name("home", "ab\ncd").error().message.find("byte 2"), std::string::npos);
}

TEST(Names, PrintableIsBounded) { EXPECT_LT(printable(std::string(10'000, '\n')).size(), 100u); }

}  // namespace
}  // namespace holdfast::core
