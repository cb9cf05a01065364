#include "store/sqlite/bell.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <vector>

#include "store/sqlite/bell_testing.h"

namespace holdfast::store {
namespace {

namespace fs = std::filesystem;

class BellFile : public ::testing::Test {
 protected:
  BellFile() {
    std::string pattern = (fs::temp_directory_path() / "bell_XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
    store_ = (directory_ / "store.db").string();
    std::ofstream{store_} << "x";
    bell_ = store_ + "-bell";
  }
  ~BellFile() override { fs::remove_all(directory_); }

  void overwrite(std::uint64_t at, const std::string& bytes) const {
    const int fd = ::open(bell_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    ASSERT_GE(fd, 0);
    ASSERT_EQ(::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(at)),
              static_cast<ssize_t>(bytes.size()));
    ::close(fd);
  }

  fs::path directory_;
  std::string store_;
  std::string bell_;
};

std::uint32_t counter(Bell& bell, BellSlot slot) {
  return bell.layout().counters[static_cast<std::size_t>(slot)].load();
}

/// Runs `body` in a child process; its status is what `body` returns.
template <typename Body>
pid_t in_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  return child;
}
int exit_of(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(BellFile, IsMadeWholeWithTheModeOfItsStore) {
  fs::permissions(store_, fs::perms{0660});
  auto bell = Bell::open(store_);
  ASSERT_TRUE(bell.has_value()) << bell.error().message;
  struct stat status{};
  ASSERT_EQ(::stat(bell_.c_str(), &status), 0);
  EXPECT_EQ(status.st_size, static_cast<off_t>(sizeof(BellLayout)));
  EXPECT_EQ(status.st_mode & 0777, 0660u);
  EXPECT_GE(status.st_blocks * 512, static_cast<off_t>(sizeof(BellLayout)))
      << "blocks that are not allocated could raise SIGBUS on a full disk";
}

TEST_F(BellFile, TwoOpensShareTheirCounters) {
  auto one = Bell::open(store_);
  auto two = Bell::open(store_);
  ASSERT_TRUE(one.has_value() && two.has_value());
  const BellSlot slot = bell_slot({"stream/a", "log"});
  const std::array slots{slot};
  (*one)->ring(slots);
  EXPECT_EQ(counter(**two, slot), 1u);
  (*two)->ring(slots);
  EXPECT_EQ(counter(**one, slot), 2u);
}

TEST_F(BellFile, IsFoundThroughASymbolicLinkToTheStore) {
  const std::string link = (directory_ / "link.db").string();
  fs::create_symlink(store_, link);
  auto one = Bell::open(store_);
  auto two = Bell::open(link);
  ASSERT_TRUE(one.has_value() && two.has_value());
  EXPECT_EQ((*one)->path(), (*two)->path());
}

TEST_F(BellFile, TheFirstToOpenItClearsWhatTheLastLeft) {
  const std::array slots{bell_slot_of_space("a")};
  {
    auto bell = Bell::open(store_);
    (*bell)->ring(slots);
    (*bell)->layout().writers[7].pid.store(4'000'000);
  }
  auto bell = Bell::open(store_);
  ASSERT_TRUE(bell.has_value());
  EXPECT_EQ(counter(**bell, slots[0]), 0u);
  EXPECT_TRUE((*bell)->writers().empty());
}

TEST_F(BellFile, DamageOfEveryKindIsMadeGoodWhenNobodyHasItOpen) {
  const std::vector<std::function<void()>> damages{
      [&] { overwrite(0, "garbage!"); },
      [&] { overwrite(8, std::string(8, '\x7f')); },
      [&] { fs::resize_file(bell_, 0); },
      [&] { fs::resize_file(bell_, 100); },
      [&] { fs::resize_file(bell_, sizeof(BellLayout) - 1); },
      [&] { fs::resize_file(bell_, 1 << 20); },
      [&] { overwrite(0, std::string(sizeof(BellLayout), '\xff')); },
  };
  for (std::size_t i = 0; i < damages.size(); ++i) {
    {
      ASSERT_TRUE(Bell::open(store_).has_value());
    }
    damages[i]();
    auto bell = Bell::open(store_);
    ASSERT_TRUE(bell.has_value()) << "damage " << i << ": " << bell.error().message;
    EXPECT_EQ(fs::file_size(bell_), sizeof(BellLayout));
    const std::array slots{bell_slot_of_space("a")};
    (*bell)->ring(slots);
    EXPECT_EQ(counter(**bell, slots[0]), 1u);
  }
}

TEST_F(BellFile, DamageUnderARunningProgramIsAClearError) {
  auto running = Bell::open(store_);
  overwrite(0, "garbage!");
  const auto late = Bell::open(store_);
  ASSERT_FALSE(late.has_value());
  EXPECT_EQ(late.error().code, ErrorCode::kCorrupt);
  EXPECT_NE(late.error().message.find(bell_), std::string::npos);
}

TEST_F(BellFile, AnotherVersionInUseIsAClearError) {
  auto running = Bell::open(store_);
  (*running)->layout().version = kBellVersion + 1;
  const auto late = Bell::open(store_);
  ASSERT_FALSE(late.has_value());
  EXPECT_EQ(late.error().code, ErrorCode::kSchema);
  running->reset();
  EXPECT_TRUE(Bell::open(store_).has_value()) << "nobody uses the other version any more";
}

TEST_F(BellFile, ReplacedUnderARunningProgramIsNoticed) {
  auto bell = Bell::open(store_);
  EXPECT_FALSE((*bell)->replaced());
  fs::remove(bell_);
  EXPECT_TRUE((*bell)->replaced());
  auto next = Bell::open(store_);
  ASSERT_TRUE(next.has_value());
  EXPECT_FALSE((*next)->replaced());
  EXPECT_TRUE((*bell)->replaced());
}

TEST_F(BellFile, WhatIsNotAFileIsRefused) {
  fs::create_directory(bell_);
  EXPECT_EQ(Bell::open(store_).error().code, ErrorCode::kIo);
  fs::remove(bell_);
  fs::create_symlink("/dev/null", bell_);
  EXPECT_EQ(Bell::open(store_).error().code, ErrorCode::kIo);
  fs::remove(bell_);
  ASSERT_EQ(::mkfifo(bell_.c_str(), 0600), 0);
  EXPECT_EQ(Bell::open(store_).error().code, ErrorCode::kIo);
}

TEST_F(BellFile, E1_AFullDiskIsAClearError) {
  const fs::path small = directory_ / "small";
  fs::create_directory(small);
  if (::mount("tmpfs", small.c_str(), "tmpfs", 0, "size=40k") != 0) {
    GTEST_SKIP() << "only root can mount a small disk";
  }
  const auto bell = Bell::open((small / "store.db").string());
  ::umount(small.c_str());
  ASSERT_FALSE(bell.has_value());
  EXPECT_EQ(bell.error().code, ErrorCode::kDiskFull);
}

TEST_F(BellFile, ManyProcessesThatOpenItAtOnceShareOneFile) {
  constexpr int kProcesses = 12;
  constexpr int kRounds = 20;
  const std::array slots{bell_slot_of_space("a")};
  auto keep_open = Bell::open(store_);
  ASSERT_TRUE(keep_open.has_value());
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    children.push_back(in_child([&] {
      for (int round = 0; round < kRounds; ++round) {
        auto bell = Bell::open(store_);
        if (!bell) return 1;
        (*bell)->register_writer();
        (*bell)->ring(slots);
      }
      return 0;
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(exit_of(child), 0);
  EXPECT_EQ(counter(**keep_open, slots[0]), kProcesses * kRounds);
  EXPECT_TRUE((*keep_open)->writers().empty()) << "all have left the table";
}

TEST_F(BellFile, OpensRacingWithClosesNeverFindItHalfMade) {
  constexpr int kProcesses = 8;
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    children.push_back(in_child([&] {
      for (int round = 0; round < 100; ++round) {
        auto bell = Bell::open(store_);
        if (!bell) return 1;
        if ((*bell)->layout().magic.load() != kBellMagic) return 2;
        const std::array slots{bell_slot_of_space("a")};
        const std::uint32_t before = counter(**bell, slots[0]);
        (*bell)->ring(slots);
        if (counter(**bell, slots[0]) <= before) return 3;  // cleared under us
      }
      return 0;
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(exit_of(child), 0);
}

TEST_F(BellFile, AWriterIsListedOnceAndOnlyWhileItHasTheBellOpen) {
  auto reader = Bell::open(store_);
  {
    auto writer = Bell::open(store_);
    (*writer)->register_writer();
    (*writer)->register_writer();
    const auto listed = (*reader)->writers();
    ASSERT_EQ(listed.size(), 1u);
    EXPECT_EQ(listed[0].pid, static_cast<std::uint32_t>(::getpid()));
    EXPECT_EQ(listed[0], (*writer)->own_place());
    EXPECT_TRUE((*reader)->lives(listed[0]));
    EXPECT_TRUE((*writer)->lives(listed[0]));
  }
  EXPECT_TRUE((*reader)->writers().empty());
  EXPECT_EQ((*reader)->layout().deaths.load(), 0u);
}

TEST_F(BellFile, WhetherAWriterLivesIsKnownByItsLockNotByItsNumber) {
  auto bell = Bell::open(store_);
  WriterPlace& place = (*bell)->layout().writers[4];
  place.pid_namespace.store(1);  // of a namespace that nobody here can look into
  place.pid.store(1);
  const ListedWriter listed = (*bell)->writers().at(0);
  EXPECT_FALSE((*bell)->lives(listed));
  {
    const testing::HeldPlaces held{bell_, 4, 1};
    EXPECT_TRUE((*bell)->lives(listed));
    place.ticket.fetch_add(1);
    EXPECT_FALSE((*bell)->lives(listed)) << "somebody else has the place now";
  }
}

TEST_F(BellFile, PlacesOfDeadWritersAreTakenOverWhenNoneIsFree) {
  auto bell = Bell::open(store_);
  for (WriterPlace& place : (*bell)->layout().writers) place.pid.store(4'000'000);
  const testing::HeldPlaces living{bell_, 0, 10};
  (*bell)->register_writer();
  EXPECT_EQ((*bell)->layout().deaths.load(), 1u);
  ASSERT_TRUE((*bell)->own_place().has_value());
  EXPECT_EQ((*bell)->own_place()->place, 10u) << "the first whose writer does not live";
  EXPECT_EQ((*bell)->layout().unlisted.load(), 0u);
}

TEST_F(BellFile, AWriterWithoutAPlaceIsMadeKnown) {
  auto bell = Bell::open(store_);
  for (WriterPlace& place : (*bell)->layout().writers) place.pid.store(4'000'000);
  const testing::HeldPlaces living{bell_, 0, kWriterPlaces};
  (*bell)->register_writer();
  EXPECT_EQ((*bell)->layout().unlisted.load(), 1u);
  EXPECT_FALSE((*bell)->own_place().has_value());
}

TEST_F(BellFile, AReapedPlaceIsLeftToItsNewOwner) {
  auto bell = Bell::open(store_);
  WriterPlace& place = (*bell)->layout().writers[0];
  place.ticket.store(5);
  place.pid.store(100);
  const ListedWriter first = (*bell)->writers().at(0);
  place.ticket.store(6);  // the same number, and another taking of the place
  EXPECT_FALSE((*bell)->reap(first));
  EXPECT_EQ((*bell)->writers().size(), 1u);
  EXPECT_TRUE((*bell)->reap((*bell)->writers().at(0)));
  EXPECT_TRUE((*bell)->writers().empty());
  EXPECT_EQ((*bell)->layout().deaths.load(), 1u);
}

TEST(BellSlots, AreSpreadAndKeepLogsAndSpacesApart) {
  std::set<BellSlot> used;
  for (int i = 0; i < 4'096; ++i) used.insert(bell_slot({"stream/" + std::to_string(i), "log"}));
  EXPECT_GT(used.size(), 2'400u) << "a random function reaches 63 % of 4,096";
  EXPECT_NE(bell_slot_of_log("a", "bc"), bell_slot_of_log("ab", "c"));
  EXPECT_NE(bell_slot_of_log("", "a"), bell_slot_of_space("a"));
}

TEST(BellSlots, AreThoseOfEveryOtherBuild) {
  // Programs of different builds share one file: these numbers may never change.
  EXPECT_EQ(static_cast<int>(bell_slot({"stream/chat/1", "log"})), 124);
  EXPECT_EQ(static_cast<int>(bell_slot_of_space("streams")), 2159);
}

TEST_F(BellFile, ATurnThatEndsBeforeTheWaitIsNotMissed) {
  auto bell = Bell::open(store_);
  TurnWait wait{**bell};
  (*bell)->writer_done();
  EXPECT_TRUE(wait.wait(std::chrono::hours{1})) << "would sleep for an hour if it were missed";
  EXPECT_FALSE(wait.wait(std::chrono::milliseconds{1})) << "no other turn has ended";
  EXPECT_EQ((*bell)->layout().turn_waiters.load(), 0u);
}

TEST_F(BellFile, ATurnOfAnotherProcessEndsTheWait) {
  auto bell = Bell::open(store_);
  TurnWait wait{**bell};
  const pid_t child = in_child([&] {
    auto writer = Bell::open(store_);
    if (!writer) return 1;
    while ((*writer)->layout().turn_waiters.load() == 0) ::usleep(100);
    (*writer)->writer_done();
    return 0;
  });
  EXPECT_TRUE(wait.wait(std::chrono::hours{1}));
  EXPECT_EQ(exit_of(child), 0);
}

}  // namespace
}  // namespace holdfast::store
