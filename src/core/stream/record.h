// A stream's record: the row that says what the stream is. The chunks are in its log; what changes
// with every append is there or in rows of its own.
//
// A fork shares its source's past by reference: `segments` say which log serves which offsets.
//
//   offsets   0 ........ 40 ........ 100 .........
//             [ log of A )[ log of B  )[ own log        segments: {A, end 40}, {B, end 100}
//                                      ^ base
//
// Invariants: segments' ends rise; each is above the one before it and at most `base`; `first` is
// the oldest chunk shown, however much more is kept for forks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/bytes.h>
#include <holdfast/clock.h>
#include <holdfast/ids.h>
#include <holdfast/result.h>
#include <holdfast/store.h>
#include <holdfast/stream.h>

namespace holdfast::core {

/// Inherited chunks: those of stream (name, id) from the end of the segment before up to `end`.
struct Segment {
  std::string name;
  Ulid id{};
  Offset end{};
  friend bool operator==(const Segment&, const Segment&) = default;
};

/// More ancestors than this and a fork is refused.
inline constexpr std::size_t kSegmentsMax = 256;

struct StreamRecord {
  // What never changes.
  Ulid id{};
  std::string content_type{};
  std::optional<std::chrono::seconds> ttl{};
  std::optional<Timestamp> expires_at{};
  Timestamp created{};
  std::string source{};  ///< what it was forked from; empty if it was not
  Ulid source_id{};
  Offset fork_at{};  ///< as asked for, once resolved
  std::uint64_t sub_offset = 0;
  Offset base{};  ///< where its own log begins
  std::vector<Segment> segments{};
  // What may.
  Offset first{};
  Retention retention{};
  std::uint64_t forks = 0;  ///< live streams forked from this one
  bool deleted = false;     ///< kept for its forks only
};

[[nodiscard]] Bytes encode_record(const StreamRecord& record);
[[nodiscard]] Result<StreamRecord> decode_record(BytesView bytes);

/// "stream/<name>": the home of all that belongs to a stream.
[[nodiscard]] std::string stream_home(std::string_view name);
/// Its log there: named by id, so that a stream made again under its name has another.
[[nodiscard]] LogKey stream_log(std::string_view name, const Ulid& id);

}  // namespace holdfast::core
