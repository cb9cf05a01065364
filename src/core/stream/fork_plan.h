// Forks by reference: which log serves which offsets.
//
// Invariants: planning costs the number of ancestors, never of chunks; a fork of a fork names the
// logs that hold the chunks, so reading never walks a chain.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <holdfast/result.h>
#include <holdfast/store.h>

#include "core/stream/record.h"

namespace holdfast::core {

/// Where a fork leaves its source, resolved against the source as it stands.
struct ForkPoint {
  Offset at{};    ///< as asked for
  Offset base{};  ///< the fork's own log begins here
  /// Take this many bytes of the source's chunk at `base` as the fork's first own chunk.
  std::uint64_t prefix_bytes = 0;
};

/// Resolves what was asked for. `first` and `tail` are the source's. Errors: `kGone` below `first`,
/// `kInvalidArgument` beyond the tail. For streams that are not JSON the chunk's length is still to
/// be compared with `prefix_bytes`.
[[nodiscard]] Result<ForkPoint> plan_fork_point(const ForkOptions& where, bool json, Offset first,
                                                Offset tail);

/// The segments of a fork at `base`: the source's own and inherited ones up to there. `first` is
/// the oldest chunk the source shows.
[[nodiscard]] Result<std::vector<Segment>> plan_segments(std::string_view source_name,
                                                         const StreamRecord& source, Offset first,
                                                         Offset base);

/// Who serves `from`, and up to where.
struct Serving {
  LogKey log;
  std::optional<Offset> end{};  ///< none for the stream's own log
};
[[nodiscard]] Serving serving_log(std::string_view name, const StreamRecord& record, Offset from);

/// The oldest chunk that a reader may have. `log_first` is the own log's.
[[nodiscard]] constexpr Offset shown_first(const StreamRecord& record, Offset log_first) {
  // The own log's first says nothing while inherited chunks are shown.
  const bool own_trimmed = record.segments.empty() || log_first > record.base;
  return own_trimmed && log_first > record.first ? log_first : record.first;
}

}  // namespace holdfast::core
