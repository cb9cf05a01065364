#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>

#include "cli/output/json.h"
#include "cli/output/output.h"
#include "cli/output/progress.h"
#include "cli/output/table.h"
#include "cli/output/text.h"

namespace holdfast::cli {
namespace {

using std::chrono::milliseconds;

TEST(Text, NumbersAreReadable) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(24'539), "24,539");
  EXPECT_EQ(count_text(1'000'000), "1,000,000");
  EXPECT_EQ(count_of(1, "line"), "1 line");
  EXPECT_EQ(count_of(0, "line"), "0 lines");
  EXPECT_EQ(bytes_text(999), "999 B");
  EXPECT_EQ(bytes_text(1000), "1.00 kB");
  EXPECT_EQ(bytes_text(2'123'456), "2.12 MB");
  EXPECT_EQ(bytes_text(12'345), "12.3 kB");
  EXPECT_EQ(bytes_text(999'999), "1.00 MB");
  EXPECT_EQ(bytes_text(18446744073709551615u), "18.4 EB");
}

TEST(Text, TimesAreReadable) {
  EXPECT_EQ(span_text(milliseconds{340}), "340 ms");
  EXPECT_EQ(span_text(milliseconds{4'250}), "4.2 s");
  EXPECT_EQ(span_text(milliseconds{65'000}), "1 min 5 s");
  EXPECT_EQ(span_text(milliseconds{11'520'000}), "3 h 12 min");
  EXPECT_EQ(span_text(milliseconds{604'800'000}), "7 d");
  EXPECT_EQ(time_iso({1'772'366'405'250}), "2026-03-01T12:00:05.250Z");
  EXPECT_EQ(time_text({-1000}), "1969-12-31 23:59:59 UTC");
  EXPECT_EQ(ago_text({0}, {500}), "just now");
  EXPECT_EQ(ago_text({0}, {185'000}), "3 min ago");
  EXPECT_EQ(ago_text({0}, {90'000'000}), "1 d ago");
  EXPECT_EQ(ago_text({7'300'000}, {0}), "in 2 h");
}

TEST(Text, WidthCountsColumnsNotBytes) {
  EXPECT_EQ(display_width("abc"), 3u);
  EXPECT_EQ(display_width("äöü"), 3u);
  EXPECT_EQ(display_width("日本"), 4u);
  EXPECT_EQ(display_width("e\xCC\x81"), 1u);
  EXPECT_EQ(display_width("\xff\xfe"), 2u);
  EXPECT_EQ(padded("日", 4), "日  ");
  EXPECT_EQ(padded("7", 3, true), "  7");
}

TEST(Text, WrapsAtSpaces) {
  EXPECT_EQ(wrapped("one two three", 8, 2), "one two\n  three");
  EXPECT_EQ(wrapped("incomprehensible", 4, 0), "incomprehensible");
}

TEST(Text, ShellWordsAreQuotedOnlyWhereTheyMustBe) {
  EXPECT_EQ(shell_quoted("chat/42"), "chat/42");
  EXPECT_EQ(shell_quoted("a b"), "'a b'");
  EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_quoted("-x"), "'-x'");
  EXPECT_EQ(shell_quoted(""), "''");
}

TEST(Tables, ColumnsAreAlignedAndEndWithoutSpaces) {
  Table table{{{"NAME"}, {"CHUNKS", true}, {"STATE"}}};
  table.add({"日本", "7", "open"});
  table.add({"chat/1", "24,539", ""});
  EXPECT_EQ(table.text(Style{}),
            "NAME    CHUNKS  STATE\n"
            "日本         7  open\n"
            "chat/1  24,539\n");
}

TEST(Json, E3_TextIsEscapedAndBytesThatAreNoTextAreKeptExactly) {
  JsonObject object;
  object.add("t", std::string_view{"a\"b\\\n\x01\0", 7}).add("n", 7u).add("b", true);
  object.bytes("data", "\xff\x00");
  EXPECT_EQ(object.text(),
            "{\"t\":\"a\\\"b\\\\\\n\\u0001\\u0000\",\"n\":7,\"b\":true,\"dataBase64\":\"/w==\"}");
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foob"), "Zm9vYg==");
}

ProgressState half_way() {
  return {.doing = "import a",
          .unit = "",
          .started_at = 0,
          .done = 1'000'000,
          .total = 2'000'000,
          .lines = 10'000,
          .elapsed = milliseconds{2000}};
}

TEST(Progress, TellsHowFarHowFastAndHowLong) {
  EXPECT_EQ(progress_line(half_way()),
            "import a: 50 %, 1.00 MB, 2.0 s left, 5,000 lines/s, 500 kB/s");
  const std::string bar = progress_bar(half_way(), 100, Style{});
  EXPECT_NE(bar.find("━━━━━━━━━━━━━━━╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌"), std::string::npos) << bar;
}

TEST(Progress, FitsTheTerminal) {
  for (std::size_t columns = 20; columns < 140; ++columns) {
    EXPECT_LE(display_width(progress_bar(half_way(), columns, Style{})), columns);
  }
}

TEST(Progress, WhatWasDoneBeforeCountsForTheBarButNotForTheRate) {
  ProgressState state = half_way();
  state.started_at = 900'000;
  EXPECT_EQ(time_left(state), milliseconds{20'000});
  state.done = 900'000;
  EXPECT_LT(time_left(state), milliseconds{0});
}

TEST(Progress, WithoutATotalThereIsNoBar) {
  ProgressState state = half_way();
  state.total = 0;
  EXPECT_EQ(progress_line(state), "import a: 1.00 MB, 5,000 lines/s, 500 kB/s");
  EXPECT_EQ(progress_bar(state, 80, Style{}).find("━"), std::string::npos);
}

std::chrono::steady_clock::time_point g_now{};  // what the meter under test takes for the time

TEST(Progress, ShowsNotMoreOftenThanAPersonCanSee) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  {
    Output out{ends[1], "pipe"};
    ProgressMeter meter{out,    Style{}, ProgressMeter::Mode::kLines,
                        "work", "step",  [] { return g_now; }};
    for (int i = 0; i < 10'000; ++i) {
      g_now += milliseconds{1};
      meter.update(static_cast<std::uint64_t>(i), 10'000);
    }
  }
  ::close(ends[1]);
  std::array<char, 4096> text{};
  const auto got = ::read(ends[0], text.data(), text.size());
  ::close(ends[0]);
  ASSERT_GT(got, 0);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
}

TEST(Outputs, AReaderThatIsGoneIsNoError) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ::close(ends[0]);
  Output out{ends[1], "pipe"};
  EXPECT_TRUE(out.write("kept in the buffer"));
  EXPECT_FALSE(out.flush());
  EXPECT_TRUE(out.reader_gone());
  EXPECT_TRUE(out.status());
  EXPECT_FALSE(out.write("more"));
  ::close(ends[1]);
  std::signal(SIGPIPE, before);
}

TEST(Outputs, E1_AFullDiskIsAnErrorThatStays) {
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(full, 0);
  Output out{full, "the file"};
  out.write("lost");
  EXPECT_FALSE(out.flush());
  ASSERT_FALSE(out.status());
  EXPECT_EQ(out.status().error().code, ErrorCode::kDiskFull);
  EXPECT_NE(out.status().error().message.find("the file"), std::string::npos);
  ::close(full);
}

TEST(Styles, ColourNeedsATerminal) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const Style style = Style::of(ends[1]);
  EXPECT_FALSE(style.terminal);
  EXPECT_EQ(style.red("x"), "x");
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace holdfast::cli
