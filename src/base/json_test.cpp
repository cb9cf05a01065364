#include "base/json.h"

#include <gtest/gtest.h>

#include <string>

namespace holdfast {
namespace {

TEST(Json, GoodValuesPass) {
  for (const char* good :
       {"0", "-0", "1e9", "1.5E-3", "true", "null", "\"\"", "[]", "{}", " [1, 2 ,{\"a\":[]}] ",
        "\"\\u00e9\\ud83d\\ude00\\n\"", "\"\xc3\xa9\"", "{\"a\":1,\"a\":2}"}) {
    EXPECT_TRUE(check_json(good).has_value()) << good;
  }
}

TEST(Json, NumbersOfAnySizeAreText) {
  EXPECT_TRUE(check_json("123456789012345678901234567890123456789").has_value());
  EXPECT_TRUE(check_json("[1e999]").has_value());
}

TEST(Json, E3_WhatIsNotJsonIsRefusedAndTheByteNamed) {
  using namespace std::string_literals;
  const std::pair<std::string, std::size_t> cases[] = {
      {"", 0},         {"  ", 2},      {"NaN", 0},       {"[1,NaN]", 3},    {"01", 1},
      {"1.", 2},       {"-", 1},       {"[1,]", 3},      {"{\"a\":1,}", 7}, {"{a:1}", 1},
      {"\"a\nb\"", 2}, {"\"\\x\"", 1}, {"\"\\u12\"", 1}, {"\"\xff\"", 1},   {"\"\xed\xa0\x80\"", 1},
      {"[1 2]", 3},    {"{} {}", 3},   {"\"abc", 4},     {"[[]", 3},        {"\"a\0b\""s, 2},
      {"Infinity", 0}};
  for (const auto& [text, byte] : cases) {
    const auto result = check_json(text);
    ASSERT_FALSE(result.has_value()) << text;
    EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(result.error().actual, byte) << text << ": " << result.error().message;
  }
}

TEST(Json, HalfAPairMayBeEscaped) {
  EXPECT_TRUE(check_json("\"\\ud83d\"").has_value());
  EXPECT_TRUE(check_json("\"\\ude00\"").has_value());
}

TEST(Json, NestingIsBounded) {
  EXPECT_TRUE(check_json(std::string(900, '[') + std::string(900, ']')).has_value());
  EXPECT_FALSE(check_json(std::string(100'000, '[') + std::string(100'000, ']')).has_value());
}

TEST(Json, AnArrayIsSplitIntoTheBytesOfItsElements) {
  const auto parts = split_json_array(" [ {\"a\": [1, 2]} ,\"x,]\" , 3 ] ");
  ASSERT_TRUE(parts.has_value());
  ASSERT_EQ(parts->size(), 3u);
  EXPECT_EQ((*parts)[0], "{\"a\": [1, 2]}");
  EXPECT_EQ((*parts)[1], "\"x,]\"");
  EXPECT_EQ((*parts)[2], "3");
  EXPECT_TRUE(split_json_array("[]")->empty());
  for (const char* bad : {"", "{}", "[1", "[1,]", "[1]]", "[,1]", "[1 2]"})
    EXPECT_FALSE(split_json_array(bad).has_value()) << bad;
}

TEST(Json, AnArrayIsKnownByItsFirstByte) {
  EXPECT_TRUE(looks_like_json_array(" \n[1]"));
  EXPECT_FALSE(looks_like_json_array("{\"a\":[]}"));
  EXPECT_FALSE(looks_like_json_array(""));
}

}  // namespace
}  // namespace holdfast
