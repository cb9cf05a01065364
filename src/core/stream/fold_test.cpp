#include "core/stream/fold.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <holdfast/random.h>

namespace holdfast::core {
namespace {

using Lines = std::vector<std::string>;

Lines fold(const Lines& lines, std::size_t line_bytes_max = 1u << 20) {
  Folder folder{line_bytes_max};
  for (std::size_t i = 0; i < lines.size(); ++i) folder.push(lines[i], Offset{i}, Offset{i + 1});
  folder.finish();
  Lines out;
  std::uint64_t next = 0;
  for (const FoldedLine& line : folder.lines()) {
    EXPECT_EQ(line.offset.value, next) << "folded lines stand for all offsets, without a hole";
    EXPECT_GT(line.next, line.offset);
    next = line.next.value;
    out.push_back(folder.bytes().substr(line.begin, line.size));
  }
  EXPECT_EQ(next, lines.size());
  return out;
}

TEST(Fold, ConsecutiveDeltasOfOnePartBecomeOneLine) {
  EXPECT_EQ(fold({R"({"type":"text","turn":"t1","delta":"Hel"})",
                  R"({"type":"text","turn":"t1","delta":"lo"})",
                  R"({"type":"text","turn":"t1","delta":""})",
                  R"({"type":"text","turn":"t1","delta":" \"you\"\n"})"}),
            (Lines{R"({"type":"text","turn":"t1","delta":"Hello \"you\"\n"})"}));
}

TEST(Fold, WhatDiffersElsewhereStaysApart) {
  const Lines lines = {R"({"turn":"t1","delta":"a"})", R"({"turn":"t2","delta":"b"})",
                       R"({"delta":"c","turn":"t2"})", R"({"turn":"t2", "delta":"d"})",
                       R"({"turn":"t2","delta":"e","last":true})"};
  EXPECT_EQ(fold(lines), lines);
}

TEST(Fold, TheMemberMayStandAnywhereAtTheTop) {
  EXPECT_EQ(fold({R"({"delta":"a","n":{"delta":"x"},"s":"\"delta\":\"y\""})",
                  R"({"delta":"b","n":{"delta":"x"},"s":"\"delta\":\"y\""})"}),
            (Lines{R"({"delta":"ab","n":{"delta":"x"},"s":"\"delta\":\"y\""})"}));
}

// One line of this table per way not to be a line that folds.
TEST(Fold, EverythingElsePassesUnchanged) {
  for (const std::string line : {R"({"x":{"delta":"a"}})",
                                 R"({"delta":1})",
                                 R"({"delta":null})",
                                 R"({"delta":["a"]})",
                                 R"({"delta":"a","delta":"b"})",
                                 R"(["delta","a"])",
                                 R"("delta")",
                                 "",
                                 "plain text",
                                 R"({"delta":"a")",
                                 R"({"delta":"a"} x)",
                                 R"({"delta":"a"}{"delta":"a"})",
                                 R"({"delta:"a"})",
                                 R"({"delta":"a)",
                                 R"({"d\u0065lta":"a"})",
                                 R"({"delta":"a",})",
                                 R"({"x":"delta","y":"a"})",
                                 R"({'delta':'a'})",
                                 "{\"delta\":\"a\nb\"}",
                                 "{\"delta\":\"a\\"}) {
    EXPECT_FALSE(find_delta(line).has_value()) << line;
    EXPECT_EQ(fold({line, line}), (Lines{line, line})) << line;
  }
}

TEST(Fold, EscapesAreNotCutAndQuotesNotTakenForEnds) {
  EXPECT_EQ(fold({R"({"delta":"a\\"})", R"({"delta":"\"b"})", R"({"delta":"\ud83d"})",
                  R"({"delta":"\ude00"})"}),
            (Lines{R"({"delta":"a\\\"b\ud83d\ude00"})"}));
  // A line whose bytes begin and end alike, but that is made otherwise inside.
  const Lines apart = {R"({"delta":"a"})", R"({"delta":"b","delta":"c"})"};
  EXPECT_EQ(fold(apart), apart);
}

TEST(Fold, LinesDoNotOutgrowTheirLimit) {
  Lines lines;
  for (int i = 0; i < 100; ++i) lines.push_back(R"({"delta":"0123456789"})");
  const Lines folded = fold(lines, 64);
  std::size_t contents = 0;
  for (const std::string& line : folded) {
    EXPECT_LE(line.size(), 64u);
    contents += line.size() - 12;
  }
  EXPECT_EQ(contents, 1'000u);
  // One line that is longer by itself is not touched.
  const std::string big = "{\"delta\":\"" + std::string(500, 'x') + "\"}";
  EXPECT_EQ(fold({big, big}, 64), (Lines{big, big}));
}

// Cut a stream into pages anywhere, fold each, fold the result: always the same.
TEST(Fold, HoweverItIsPagedTheContentsAreTheSame) {
  Random random{11};
  for (int round = 0; round < 300; ++round) {
    Lines lines;
    for (std::uint64_t i = random.below(40); i > 0; --i) {
      switch (random.below(6)) {
        case 0: lines.emplace_back(R"({"type":"turn_end"})"); break;
        case 1: lines.emplace_back("not json \"delta\":\"x\""); break;
        case 2: lines.push_back("{\"t\":1,\"delta\":\"" + std::to_string(i) + "\"}"); break;
        default: lines.push_back("{\"t\":2,\"delta\":\"\\n" + std::to_string(i) + "\"}"); break;
      }
    }
    Lines paged;
    for (std::size_t at = 0; at < lines.size();) {
      const std::size_t count = std::min<std::size_t>(1 + random.below(7), lines.size() - at);
      const auto from = lines.begin() + static_cast<std::ptrdiff_t>(at);
      for (auto& line : fold({from, from + static_cast<std::ptrdiff_t>(count)}))
        paged.push_back(line);
      at += count;
    }
    EXPECT_EQ(fold(paged), fold(lines)) << "round " << round;
  }
}

}  // namespace
}  // namespace holdfast::core
