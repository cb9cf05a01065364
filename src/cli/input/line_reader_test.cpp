#include "cli/input/line_reader.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

namespace holdfast::cli {
namespace {

using namespace std::string_literals;

// A pipe's reading end, at which the parts arrive one by one.
class Fed {
 public:
  Fed() { EXPECT_EQ(::pipe(ends_.data()), 0); }
  Fed(const Fed&) = delete;
  Fed& operator=(const Fed&) = delete;
  ~Fed() {
    end();
    ::close(ends_[0]);
  }
  void feed(const std::string& part) {
    EXPECT_EQ(::write(ends_[1], part.data(), part.size()), static_cast<ssize_t>(part.size()));
  }
  void end() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }
  [[nodiscard]] int fd() const { return ends_[0]; }

 private:
  std::array<int, 2> ends_{};
};

std::vector<std::string> take(LineReader& reader, std::size_t most = 100) {
  auto lines = reader.next(most);
  EXPECT_TRUE(lines);
  return lines ? std::vector<std::string>(lines->begin(), lines->end())
               : std::vector<std::string>{};
}

TEST(LineReader, GivesWhatIsThereAndWaitsOnlyForTheFirstLine) {
  Fed fed;
  LineReader reader{fed.fd(), "input"};
  fed.feed("one\ntwo\nthr");
  EXPECT_EQ(take(reader), (std::vector<std::string>{"one", "two"}));
  fed.feed("ee\n");
  EXPECT_EQ(take(reader), (std::vector<std::string>{"three"}));
  fed.feed("four");
  fed.end();
  EXPECT_EQ(take(reader), (std::vector<std::string>{"four"}));
  EXPECT_TRUE(take(reader).empty());
  EXPECT_TRUE(take(reader).empty());
  EXPECT_EQ(reader.lines(), 4u);
}

TEST(LineReader, E3_KeepsEmptyLinesNulsAndCarriageReturns) {
  Fed fed;
  LineReader reader{fed.fd(), "input"};
  fed.feed("\n\r\na\0b\n\xff\n"s);
  fed.end();
  EXPECT_EQ(take(reader), (std::vector<std::string>{"", "\r", "a\0b"s, "\xff"}));
}

TEST(LineReader, GivesNoMoreThanAskedFor) {
  Fed fed;
  LineReader reader{fed.fd(), "input"};
  fed.feed("1\n2\n3\n");
  fed.end();
  EXPECT_EQ(take(reader, 2), (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(take(reader, 2), (std::vector<std::string>{"3"}));
}

TEST(LineReader, TakesAllAsOne) {
  Fed fed;
  LineReader reader{fed.fd(), "input"};
  fed.feed("a\nb\0"s);
  fed.end();
  const auto all = reader.all();
  ASSERT_TRUE(all);
  EXPECT_EQ(*all, "a\nb\0"s);
}

}  // namespace
}  // namespace holdfast::cli
