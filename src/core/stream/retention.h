// When to look whether a stream keeps too much. Trimming on every append would cost a commit each;
// looking only when an eighth more than allowed may have gathered costs a share of one.
#pragma once

#include <cstdint>
#include <optional>

#include <holdfast/clock.h>
#include <holdfast/stream.h>

namespace holdfast::core {

/// What has been appended since somebody last looked, as one process knows it.
struct RetentionTally {
  std::uint64_t chunks = 0;
  std::uint64_t bytes = 0;
  Timestamp looked{};  ///< when that was
};

/// Whether it is time to look again.
[[nodiscard]] bool retention_due(const Retention& retention, const RetentionTally& tally,
                                 Timestamp now);

/// How far to trim for the limit on chunks.
[[nodiscard]] Offset trim_for_chunks(std::uint64_t chunks_max, Offset first, Offset tail);

/// The moment before which chunks are too old, or none if age does not bind yet.
[[nodiscard]] std::optional<Timestamp> age_cutoff(const Retention& retention, Timestamp now);

/// How long until the age limit is to be looked at again when nothing is appended.
[[nodiscard]] std::int64_t age_look_again_ms(const Retention& retention);

}  // namespace holdfast::core
