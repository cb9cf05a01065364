#include "cli/input/source.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <zstd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <thread>

namespace holdfast::cli {
namespace {

class SourceTest : public ::testing::Test {
 protected:
  SourceTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "holdfast-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
  }
  ~SourceTest() override { std::filesystem::remove_all(directory_); }

  std::string file(const std::string& name, std::string_view bytes) const {
    std::ofstream{directory_ / name, std::ios::binary} << bytes;
    return (directory_ / name).string();
  }
  static std::string rest(Source& source) {
    std::string all;
    std::array<char, 1000> block{};
    for (;;) {
      const auto got = source.read(block.data(), block.size());
      EXPECT_TRUE(got) << (got ? "" : got.error().message);
      if (!got || *got == 0) return all;
      all.append(block.data(), *got);
    }
  }
  static std::string compressed(std::string_view bytes) {
    std::string out(ZSTD_compressBound(bytes.size()), '\0');
    out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 3));
    return out;
  }
  static std::string sample() {
    std::string text;
    for (int i = 0; i < 20'000; ++i) text += std::to_string(i * 7919) + "\n";
    return text;
  }

  std::filesystem::path directory_;
};

TEST_F(SourceTest, ReadsAFileFromAnywhere) {
  auto source = Source::open(file("a", "0123456789"));
  ASSERT_TRUE(source);
  EXPECT_EQ((*source)->size(), 10u);
  EXPECT_TRUE((*source)->seekable());
  EXPECT_TRUE((*source)->seek(4));
  EXPECT_EQ(rest(**source), "456789");
  EXPECT_EQ((*source)->taken(), 10u);
  EXPECT_TRUE((*source)->seek(0));
  EXPECT_EQ(rest(**source), "0123456789");
}

TEST_F(SourceTest, DecompressesWhatEndsWithZstAlsoInSeveralFrames) {
  const std::string text = sample();
  const std::string packed = compressed(text.substr(0, 1000)) + compressed(text.substr(1000));
  auto source = Source::open(file("a.zst", packed));
  ASSERT_TRUE(source);
  EXPECT_EQ(rest(**source), text);
  EXPECT_EQ((*source)->taken(), packed.size());
  for (const std::size_t at :
       {std::size_t{500}, std::size_t{1000}, std::size_t{100'000}, text.size()}) {
    EXPECT_TRUE((*source)->seek(at));
    EXPECT_EQ(rest(**source), text.substr(at));
  }
  EXPECT_FALSE((*source)->seek(text.size() + 1));
}

TEST_F(SourceTest, NamesAFileThatIsNotZstdOrBreaksOff) {
  const std::string packed = compressed(sample());
  for (const std::string& bytes : {std::string{"plain text"}, packed.substr(0, packed.size() / 2),
                                   packed.substr(0, packed.size() - 1)}) {
    auto source = Source::open(file("a.zst", bytes));
    ASSERT_TRUE(source);
    std::array<char, 1000> block{};
    Result<std::size_t> got = 1;
    while (got && *got > 0) got = (*source)->read(block.data(), block.size());
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(got.error().message.find("a.zst"), std::string::npos);
  }
}

TEST_F(SourceTest, StopsWaitingWhenToldTo) {
  const int stop = ::eventfd(0, EFD_CLOEXEC);
  std::array<int, 2> silent{};
  ASSERT_EQ(::pipe(silent.data()), 0);
  auto source = Source::open("/dev/fd/" + std::to_string(silent[0]), stop);
  ASSERT_TRUE(source);
  std::thread later{[&] {
    const std::uint64_t one = 1;
    EXPECT_EQ(::write(stop, &one, sizeof one), static_cast<ssize_t>(sizeof one));
  }};
  std::array<char, 10> block{};
  const auto got = (*source)->read(block.data(), block.size());
  later.join();
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, ErrorCode::kCancelled);
  for (const int fd : {stop, silent[0], silent[1]}) ::close(fd);
}

TEST_F(SourceTest, NamesWhatCannotBeOpened) {
  const auto missing = Source::open((directory_ / "nothing").string());
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  const auto folder = Source::open(directory_.string());
  ASSERT_FALSE(folder);
  EXPECT_NE(folder.error().message.find("directory"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::cli
