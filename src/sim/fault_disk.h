// A disk in memory that loses what a real one may lose. It knows, for every file, what was written
// (survives the death of the process) and what was synced (survives the loss of power), and can be
// told to fail at a chosen call.
//
//   written:  [ synced content ][ w1 ][ w2 ][ truncate ][ w3 ]     ordered, not yet synced
//                                \____ any of these may be gone after a power loss ____/
//
// Invariants
//   - `live` is what processes see; `durable` is what the last sync of the file made sure of.
//   - After the cut nothing changes any more until crash().
//   - Names are made and removed durably, in order, by the next sync of any file, as journalling
//   file
//     systems do it; content is only by the file's own.
//   - After a failed sync what was pending is lost for good, though `live` still shows it: a later
//     sync that succeeds does not bring it back.
//
// Left to others: locks and shared memory (fault_vfs).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/random.h>

namespace holdfast::sim {

/// What can go wrong at one call.
enum class Fault : std::uint8_t {
  kNone,
  kCut,         ///< this call does not happen, nor does anything after it
  kTear,        ///< a part of this write lands, and nothing after it happens
  kDiskFull,    ///< this write is refused, and each that grows a file, until make_space()
  kSyncFails,   ///< this sync is refused; what it was to make durable is lost
  kWriteFails,  ///< this write, truncation or mapping is refused, once
  kReadFails,   ///< this read is refused, once
};
inline constexpr std::array kAllFaults{Fault::kCut,       Fault::kTear,       Fault::kDiskFull,
                                       Fault::kSyncFails, Fault::kWriteFails, Fault::kReadFails};
[[nodiscard]] std::string_view fault_name(Fault fault);

/// What is left after a crash.
enum class Loss : std::uint8_t {
  kProcess,    ///< the process died: everything written is there
  kDropped,    ///< power went: only what was synced is there
  kPrefix,     ///< power went: unsynced writes are there up to some moment
  kScattered,  ///< power went: each unsynced write is there, or not, or in part
};
inline constexpr std::array kAllLosses{Loss::kProcess, Loss::kDropped, Loss::kPrefix,
                                       Loss::kScattered};
[[nodiscard]] std::string_view loss_name(Loss loss);

enum class Call : std::uint8_t { kCreate, kDelete, kRead, kWrite, kTruncate, kSync, kMap };

/// What a call is to do.
enum class Verdict : std::uint8_t { kGoOn, kFull, kFail, kDead };

class FaultDisk {
 public:
  class File;

  /// Lets `fault` strike at the `at`-th call (from 1) of those it can strike, counted from now.
  void plan(Fault fault, std::uint64_t at);
  /// How many calls so far, since plan(), the fault could have struck.
  [[nodiscard]] std::uint64_t calls(Fault fault) const;
  /// All calls since plan().
  [[nodiscard]] std::uint64_t calls() const;
  [[nodiscard]] bool struck() const;
  /// After a cut: nothing happens any more.
  [[nodiscard]] bool dead() const;
  void make_space();
  /// Ends the present lives of all files: what is left is decided by `loss`, and is durable.
  void crash(Loss loss, Random& random);

  // --- What a file system does. Thread-safe. -----------------------------------------------------
  [[nodiscard]] bool exists(const std::string& name) const;
  /// Opens a file, making it if asked; null if it is not there or cannot be made.
  [[nodiscard]] std::shared_ptr<File> open(const std::string& name, bool create, Verdict& verdict);
  Verdict remove(const std::string& name, bool durably);
  /// Fills `to`, with zeros past the end; `got` says how much was there.
  Verdict read(File& file, char* to, std::size_t size, std::uint64_t at, std::size_t& got);
  Verdict write(File& file, std::string_view bytes, std::uint64_t at);
  Verdict truncate(File& file, std::uint64_t size);
  Verdict sync(File& file);
  /// Asked before shared memory grows.
  Verdict map();
  [[nodiscard]] std::uint64_t size(const File& file) const;
  /// Counts crashes: a file opened before one is dead.
  [[nodiscard]] std::uint64_t life() const;

 private:
  Verdict judge(Call call, bool grows);  // mutex held
  void after_power_loss(Loss loss, Random& random);

  mutable std::mutex mutex_;
  // All guarded by mutex_.
  std::map<std::string, std::shared_ptr<File>> files_;
  struct Deleted {
    std::string name;
    std::shared_ptr<File> file;
    std::uint64_t moment = 0;
  };
  std::vector<Deleted> deleted_;  // since the last sync of any file
  std::uint64_t moment_ = 0;      // orders what is not synced, over all files
  std::uint64_t life_ = 0;
  Fault fault_ = Fault::kNone;
  std::uint64_t at_ = 0;
  bool struck_ = false;
  bool dead_ = false;
  bool full_ = false;
  std::array<std::uint64_t, 7> calls_{};
};

}  // namespace holdfast::sim
