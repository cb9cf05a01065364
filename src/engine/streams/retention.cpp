// Trimming, asked for or by limits. What forks still need is kept, but shown no more.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/log/names.h"
#include "core/stream/lifecycle.h"
#include "core/stream/retention.h"
#include "engine/streams/core.h"
#include "engine/streams/rows.h"

namespace holdfast::engine {
namespace {

constexpr int kTriesMax = 64;

}  // namespace

Result<void> StreamsCore::trim(const HandlePtr& handle, Offset before) {
  for (int tries = 0; tries < kTriesMax; ++tries) {
    if (auto alive = check_alive(handle); !alive) return alive;
    const auto stored = load(handle->name);
    if (!stored) return fail(stored.error());
    if (!*stored || (*stored)->record.id != handle->record.id || (*stored)->record.deleted) {
      forget(handle->name, handle->record.id);
      return fail(gone_error(*handle));
    }
    core::StreamRecord record = (*stored)->record;
    const auto state = tail(handle);
    if (!state) return fail(state.error());
    const Offset to = std::min(before, state->tail);
    if (to <= state->first) return {};
    Batch batch{.home = handle->log.home};
    // While it has forks, or in what it inherited, only the record says so.
    const bool shown_only = record.forks > 0 || to <= record.base;
    if (!shown_only) batch.trims.push_back({handle->log.log, to});
    if (shown_only || !record.segments.empty()) record.first = std::max(record.first, to);
    // Written in any case: the count of forks must still be what it was when this happens.
    batch.puts.push_back(
        {std::string{kStreamSpace}, handle->name, core::encode_record(record), (*stored)->version});
    const auto committed = store_.commit(batch);
    if (!committed && committed.error().code == ErrorCode::kStale) continue;
    if (!committed) return fail(append_error(*handle, committed.error()));
    handle->raise_first(to);
    return {};
  }
  return fail(ErrorCode::kUnavailable,
              fmt::format("the stream '{}' is being changed by others all the time: try again",
                          core::printable(handle->name)));
}

Result<void> StreamsCore::set_retention(const HandlePtr& handle, const Retention& retention) {
  if (auto good = core::check_options({.retention = retention}); !good) return good;
  for (int tries = 0; tries < kTriesMax; ++tries) {
    if (auto alive = check_alive(handle); !alive) return alive;
    const auto stored = load(handle->name);
    if (!stored) return fail(stored.error());
    if (!*stored || (*stored)->record.id != handle->record.id || (*stored)->record.deleted) {
      forget(handle->name, handle->record.id);
      return fail(gone_error(*handle));
    }
    core::StreamRecord record = (*stored)->record;
    record.retention = retention;
    Batch batch{.home = handle->log.home};
    batch.puts.push_back(
        {std::string{kStreamSpace}, handle->name, core::encode_record(record), (*stored)->version});
    if (retention.age_max) {
      const Timestamp look{clock_.now().ms + core::age_look_again_ms(retention)};
      batch.puts.push_back(due_row(look, DueKind::kAge, handle->name, record.id));
    }
    const auto committed = store_.commit(batch);
    if (!committed && committed.error().code == ErrorCode::kStale) continue;
    if (!committed) return fail(committed.error());
    handle->refresh(record);
    return apply_retention(handle);
  }
  return fail(ErrorCode::kUnavailable,
              fmt::format("the stream '{}' is being changed by others all the time: try again",
                          core::printable(handle->name)));
}

Result<void> StreamsCore::apply_retention(const HandlePtr& handle) {
  const Retention retention = handle->retention();
  if (retention == Retention{}) return {};
  const auto state = tail(handle);
  if (!state) return fail(state.error());
  Offset to = state->first;
  if (retention.chunks_max)
    to = std::max(to, core::trim_for_chunks(*retention.chunks_max, state->first, state->tail));
  // The store knows sizes and times of the own log's chunks; inherited ones are older than all.
  if (retention.bytes_max && state->bytes > *retention.bytes_max) {
    const auto located = store_.locate_bytes(handle->log, *retention.bytes_max);
    if (!located) return fail(located.error());
    to = std::max(to, *located);
  }
  if (const auto cutoff = core::age_cutoff(retention, clock_.now())) {
    const auto located = store_.locate_time(handle->log, *cutoff);
    if (!located) return fail(located.error());
    if (*located > handle->record.base || handle->record.segments.empty())
      to = std::max(to, *located);
  }
  return to > state->first ? trim(handle, to) : Result<void>{};
}

}  // namespace holdfast::engine
