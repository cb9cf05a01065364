#include "core/stream/retention.h"

#include <algorithm>

namespace holdfast::core {
namespace {

constexpr std::uint64_t kShare = 8;
constexpr std::uint64_t kChunksMin = 16;
constexpr std::uint64_t kBytesMin = 4'096;
constexpr std::int64_t kLookAgainMsMin = 1'000;

}  // namespace

bool retention_due(const Retention& retention, const RetentionTally& tally, Timestamp now) {
  if (retention.chunks_max && tally.chunks >= std::max(*retention.chunks_max / kShare, kChunksMin))
    return true;
  if (retention.bytes_max && tally.bytes >= std::max(*retention.bytes_max / kShare, kBytesMin))
    return true;
  return retention.age_max && now.ms - tally.looked.ms >= age_look_again_ms(retention);
}

Offset trim_for_chunks(std::uint64_t chunks_max, Offset first, Offset tail) {
  const std::uint64_t kept = tail - first;
  return kept > chunks_max ? Offset{tail.value - chunks_max} : first;
}

std::optional<Timestamp> age_cutoff(const Retention& retention, Timestamp now) {
  if (!retention.age_max || now.ms <= retention.age_max->count()) return std::nullopt;
  return Timestamp{now.ms - retention.age_max->count()};
}

std::int64_t age_look_again_ms(const Retention& retention) {
  if (!retention.age_max) return kLookAgainMsMin;
  return std::max(retention.age_max->count() / static_cast<std::int64_t>(kShare), kLookAgainMsMin);
}

}  // namespace holdfast::core
