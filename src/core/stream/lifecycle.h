// A stream's life, as pure decisions over its record.
//
//             create                 fork (pins the source)
//   absent ───────────▶ open ───────────────────────────┐
//     ▲                  │ close                         │ forks + 1
//     │                  ▼                               ▼
//     │   remove       closed            remove   ┌─▶ deleted, kept for its forks
//     ├──────────── (no forks)  ──────────────────┘        │ the last fork is removed
//     └────────────────────────────────────────────────────┘
//
// An expired stream is as one that is absent: whoever comes across it may remove it.
#pragma once

#include <optional>
#include <string_view>

#include <holdfast/clock.h>
#include <holdfast/result.h>
#include <holdfast/stream.h>

#include "core/stream/record.h"

namespace holdfast::core {

/// The media type alone, in lower case: "Text/Plain; charset=x" gives "text/plain". Empty text
/// gives "application/octet-stream".
[[nodiscard]] std::string normal_content_type(std::string_view content_type);
/// "application/json".
[[nodiscard]] bool is_json(std::string_view content_type);

/// Refuses options that contradict themselves.
[[nodiscard]] Result<void> check_options(const StreamOptions& options);

/// A stream of that name is there: is it the one asked for? `closed` is its state now. `where` is
/// null for a plain create. Passes if so; otherwise `kAlreadyExists`, naming the first difference,
/// or `kConflict` if it is deleted but kept for its forks.
[[nodiscard]] Result<void> decide_same(std::string_view name, const StreamRecord& record,
                                       bool closed, const StreamOptions& options,
                                       std::string_view source, const ForkOptions* where);

// --- Expiry: a deadline slides with every read and append, but is written only now and then.
//
//   |<------ ttl ------>|<-- slack -->|
//   last use            earliest end   deadline as written
//
// A use within the slack leaves the row alone: the stream then still lives at least a ttl longer.

/// How far past its ttl a stream may live so that its deadline need not be written on every use.
[[nodiscard]] std::chrono::milliseconds ttl_slack(std::chrono::seconds ttl);
/// The deadline to write at a use; never before `current` (the clock may have jumped back).
[[nodiscard]] Timestamp slide_deadline(std::chrono::seconds ttl, Timestamp now, Timestamp current);
/// Whether a use at `now` must be written.
[[nodiscard]] bool must_slide(std::chrono::seconds ttl, Timestamp now, Timestamp current);

[[nodiscard]] Bytes encode_deadline(Timestamp deadline);
[[nodiscard]] Result<Timestamp> decode_deadline(BytesView bytes);

/// Errors in one wording.
[[nodiscard]] Error no_such_stream(std::string_view name);
[[nodiscard]] Error kept_for_forks(std::string_view name, ErrorCode code);

}  // namespace holdfast::core
