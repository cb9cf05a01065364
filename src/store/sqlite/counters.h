// The store's counts, kept without locks.
#pragma once

#include <atomic>
#include <cstdint>

#include <holdfast/store.h>

namespace holdfast::store {

struct Counters {
  using Count = std::atomic<std::uint64_t>;
  Count commits{0};
  Count transactions{0};
  Count syncs{0};
  Count records_written{0};
  Count bytes_written{0};
  Count rows_written{0};
  Count reads{0};
  Count rows_read{0};
  Count records_read{0};
  Count bytes_read{0};

  static void add(Count& count, std::uint64_t amount = 1) {
    count.fetch_add(amount, std::memory_order_relaxed);
  }

  [[nodiscard]] StoreStats stats() const {
    const auto get = [](const Count& count) { return count.load(std::memory_order_relaxed); };
    return {.commits = get(commits),
            .transactions = get(transactions),
            .syncs = get(syncs),
            .records_written = get(records_written),
            .bytes_written = get(bytes_written),
            .rows_written = get(rows_written),
            .reads = get(reads),
            .rows_read = get(rows_read),
            .records_read = get(records_read),
            .bytes_read = get(bytes_read)};
  }
};

}  // namespace holdfast::store
