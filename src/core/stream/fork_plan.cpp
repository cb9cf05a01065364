#include "core/stream/fork_plan.h"

#include <fmt/format.h>

#include <holdfast/check.h>

namespace holdfast::core {

Result<ForkPoint> plan_fork_point(const ForkOptions& where, bool json, Offset first, Offset tail) {
  ForkPoint point;
  point.at = where.at.value_or(tail);
  if (point.at > tail) {
    return fail(Error{
        ErrorCode::kInvalidArgument,
        fmt::format("cannot fork at offset {}: the source ends at {}", point.at.value, tail.value)}
                    .with(0, tail.value));
  }
  // A fork at the very beginning shares nothing, so it needs nothing that was trimmed.
  if (point.at < first && !(point.at.value == 0 && where.sub_offset == 0)) {
    return fail(Error{ErrorCode::kGone,
                      fmt::format("cannot fork at offset {}: the source's first chunk left is {}",
                                  point.at.value, first.value)}
                    .with(0, first.value));
  }
  point.base = point.at;
  if (where.sub_offset == 0) return point;
  const std::uint64_t left = tail - point.at;
  if (json ? where.sub_offset > left : left == 0) {
    return fail(
        Error{ErrorCode::kInvalidArgument,
              fmt::format("cannot take {} {} past offset {}: the source has {} more chunks "
                          "there",
                          where.sub_offset, json ? "chunks" : "bytes", point.at.value, left)}
            .with(left, where.sub_offset));
  }
  if (json) {
    point.base = point.at + where.sub_offset;
  } else {
    point.prefix_bytes = where.sub_offset;
  }
  return point;
}

Result<std::vector<Segment>> plan_segments(std::string_view source_name, const StreamRecord& source,
                                           Offset first, Offset base) {
  std::vector<Segment> segments;
  if (base <= first) return segments;
  for (const Segment& segment : source.segments) {
    if (segment.end <= first) continue;
    segments.push_back(segment);
    if (segment.end >= base) {
      segments.back().end = base;
      return segments;
    }
  }
  segments.push_back({std::string{source_name}, source.id, base});
  if (segments.size() > kSegmentsMax) {
    return fail(Error{ErrorCode::kTooLarge,
                      fmt::format("the fork would have {} ancestors: the limit is {}; copy the "
                                  "stream instead",
                                  segments.size(), kSegmentsMax)}
                    .with(kSegmentsMax, segments.size()));
  }
  return segments;
}

Serving serving_log(std::string_view name, const StreamRecord& record, Offset from) {
  for (const Segment& segment : record.segments) {
    if (from < segment.end) return {stream_log(segment.name, segment.id), segment.end};
  }
  return {stream_log(name, record.id), std::nullopt};
}

}  // namespace holdfast::core
