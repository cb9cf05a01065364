// The bytes of the `-bell` file, as every process that has the store open maps them.
//
//   0      header, and the words that all share      1 page
//   4096   64 groups, a cache line each              1 page
//   8192   4,096 counters                            4 pages
//   24576  1,024 places for writers                  8 pages
//
// Invariants
//   - Behind the header every value of every word is valid: counters only ever differ or do not,
//     a writer's place is believed only as far as the kernel confirms it. So a process that is
//     killed at any instruction leaves nothing to repair.
//   - The layout of one version never changes; another layout is another version.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "store/sqlite/futex.h"

namespace holdfast::store {

inline constexpr std::uint64_t kBellMagic = 0x4c4c4542'54534648;  // "HFSTBELL" in little-endian
inline constexpr std::uint32_t kBellVersion = 1;
inline constexpr std::size_t kBellCounters = 4'096;
inline constexpr std::size_t kBellGroups = 64;
inline constexpr std::size_t kCountersPerGroup = kBellCounters / kBellGroups;
inline constexpr std::size_t kWriterPlaces = 1'024;
static_assert(kCountersPerGroup == 64 && kBellGroups == 64,
              "both are used as bits of 64-bit masks");

/// What counters have in common: a process waits for groups, not for counters.
struct alignas(64) BellGroup {
  FutexWord word;      ///< rung after each of its counters
  FutexWord watchers;  ///< processes that wait for it; the killed stay counted: never too low
};

/// A process that may commit. Changed only under the table's lock; `pid` is written last. Whoever
/// has the place also holds a lock of the file's byte for it (bell_writers.cpp): so anybody can ask
/// the kernel whether he lives.
struct alignas(32) WriterPlace {
  std::atomic<std::uint32_t> pid;            ///< 0: free
  std::atomic<std::uint64_t> ticket;         ///< differs each time a place is taken
  std::atomic<std::uint64_t> pid_namespace;  ///< inode of the namespace in which `pid` counts
};

struct BellLayout {
  std::atomic<std::uint64_t> magic;  ///< written last
  std::uint32_t version;
  std::uint32_t bytes;

  alignas(64) FutexWord generation;  ///< changes of the writers' table
  FutexWord deaths;                  ///< dead writers whose place was cleared
  FutexWord tickets;                 ///< given to writers so far
  FutexWord unlisted;                ///< not 0: there was a writer for whom the table had no place

  alignas(64) FutexWord everything;  ///< rung beside every group, for those that can wait for one
  FutexWord everything_watchers;     ///< word only; like `BellGroup::watchers`

  alignas(64) FutexWord turns;  ///< ends of write transactions
  FutexWord turn_waiters;       ///< like `BellGroup::watchers`

  alignas(4096) std::array<BellGroup, kBellGroups> groups;
  alignas(4096) std::array<FutexWord, kBellCounters> counters;
  alignas(4096) std::array<WriterPlace, kWriterPlaces> writers;
};
static_assert(offsetof(BellLayout, groups) == 4'096);
static_assert(offsetof(BellLayout, counters) == 8'192);
static_assert(offsetof(BellLayout, writers) == 24'576);
static_assert(sizeof(BellLayout) == 57'344);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace holdfast::store
