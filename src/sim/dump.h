// What a store holds, as text: two stores, or one before and after, are equal if their dumps are.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/store.h>

namespace holdfast::sim {

/// All records of a log from `from` on, joined over as many reads of `limits` as it takes. Checks
/// on the way that offsets are dense, limits kept and the marks of the last page right; `problem`
/// says what was not.
struct ReadAll {
  std::vector<Bytes> records{};
  LogState state{};
  std::uint64_t reads = 0;
  std::string problem{};
};
[[nodiscard]] ReadAll read_all(Store& store, const LogKey& log, Offset from,
                               const ReadLimits& limits = {});

/// Every log with its state and records, and every row of these spaces. Versions of rows are left
/// out: only their order has a meaning.
[[nodiscard]] std::string dump(Store& store, std::span<const std::string> spaces);

/// Where two dumps part, a few lines of each; empty if they are equal.
[[nodiscard]] std::string difference(std::string_view expected, std::string_view got);

}  // namespace holdfast::sim
