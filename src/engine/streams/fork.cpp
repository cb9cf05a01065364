// Forking: O(1) commits, whatever the length.
//
//   source's home                         fork's home
//   1. pin + forks+1 + outbox  ─────────▶ 2. log, record, birth row
//   3. outbox row deleted      ◀─────────
//
// After a crash between the steps sweep() finds the outbox row. Whether the fork exists is decided
// once, in its home, by who writes the birth row first: step 2 ("born") or the sweep ("undone").
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/log/names.h"
#include "core/stream/fork_plan.h"
#include "core/stream/lifecycle.h"
#include "engine/streams/core.h"
#include "engine/streams/rows.h"

namespace holdfast::engine {
namespace {

constexpr int kTriesMax = 64;

}  // namespace

Result<core::StreamRecord> StreamsCore::plan_fork(std::string_view source_name,
                                                  const core::StreamRecord& source,
                                                  const ForkOptions& where,
                                                  const StreamOptions& options, Bytes& prefix) {
  if (!options.content_type.empty() && core::normal_content_type(options.content_type) !=
                                           core::normal_content_type(source.content_type)) {
    return fail(ErrorCode::kConflict,
                fmt::format("a fork of '{}' holds {}, as its source does, not {}",
                            core::printable(source_name), core::printable(source.content_type),
                            core::printable(options.content_type)));
  }
  const HandlePtr handle = adopt(source_name, source);
  const auto state = tail(handle);
  if (!state) return fail(state.error());
  const bool json = core::is_json(source.content_type);
  const auto point = core::plan_fork_point(where, json, state->first, state->tail);
  if (!point) return fail(point.error());
  if (point->prefix_bytes > 0) {
    const auto chunk = read_at(handle, point->base, {.records_max = 1, .bytes_max = 1});
    if (!chunk) return fail(chunk.error());
    const BytesView bytes = chunk->items.empty() ? BytesView{} : chunk->items.front().bytes;
    if (bytes.size() < point->prefix_bytes) {
      return fail(Error{ErrorCode::kInvalidArgument,
                        fmt::format("cannot take {} bytes of the chunk at offset {}: it has {}",
                                    point->prefix_bytes, point->base.value, bytes.size())}
                      .with(bytes.size(), point->prefix_bytes));
    }
    prefix = bytes.substr(0, point->prefix_bytes);
  }
  auto segments = core::plan_segments(source_name, source, state->first, point->base);
  if (!segments) return fail(std::move(segments.error()));

  core::StreamRecord record;
  record.id = make_id();
  record.content_type = source.content_type;
  const bool own_expiry = options.ttl || options.expires_at;
  record.ttl = own_expiry ? options.ttl : source.ttl;
  record.expires_at = own_expiry ? options.expires_at : source.expires_at;
  record.created = clock_.now();
  record.source = source_name;
  record.source_id = source.id;
  record.fork_at = point->at;
  record.sub_offset = where.sub_offset;
  record.base = point->base;
  record.segments = std::move(*segments);
  record.first = std::min(state->first, point->base);
  record.retention = options.retention;
  return record;
}

Result<void> StreamsCore::pin(std::string_view source, const StoredRecord& stored,
                              std::string_view fork, const Ulid& fork_id) {
  core::StreamRecord record = stored.record;
  ++record.forks;
  const Owed owed{OwedKind::kPin, std::string{source}, record.id, std::string{fork},
                  fork_id,        clock_.now()};
  Batch batch{.home = core::stream_home(source)};
  batch.puts.push_back({std::string{kStreamSpace}, std::string{source}, core::encode_record(record),
                        stored.version});
  batch.puts.push_back(
      {std::string{kPinSpace}, joined(record.id.text(), fork_id.text()), Bytes{fork}, 0});
  batch.puts.push_back(owed_row(owed));
  if (auto committed = store_.commit(batch); !committed) return fail(std::move(committed.error()));
  return {};
}

Result<void> StreamsCore::unpin(std::string_view source, const Ulid& source_id,
                                const Ulid& fork_id) {
  const std::string key = joined(source_id.text(), fork_id.text());
  const std::string owed =
      owed_key({OwedKind::kPin, std::string{source}, source_id, {}, fork_id, {}});
  for (int tries = 0; tries < kTriesMax; ++tries) {
    const auto pinned = store_.get(kPinSpace, key);
    if (!pinned) return fail(pinned.error());
    if (!*pinned) return {};
    Batch batch{.home = core::stream_home(source)};
    batch.deletes.push_back({std::string{kPinSpace}, key, (*pinned)->version});
    batch.deletes.push_back({std::string{kOutboxSpace}, owed, {}});
    const auto stored = load(source);
    if (!stored) return fail(stored.error());
    bool removed = false;
    if (*stored && (*stored)->record.id == source_id) {
      core::StreamRecord record = (*stored)->record;
      record.forks -= std::min<std::uint64_t>(record.forks, 1);
      removed = record.deleted && record.forks == 0;
      if (removed) {
        if (auto planned = removal_batch(source, record, batch); !planned) return planned;
        batch.deletes.push_back(
            {std::string{kStreamSpace}, std::string{source}, (*stored)->version});
      } else {
        batch.puts.push_back({std::string{kStreamSpace}, std::string{source},
                              core::encode_record(record), (*stored)->version});
        // What was kept for the forks alone goes with the last of them.
        if (record.forks == 0 && record.first.value > 0) {
          const std::string log = core::stream_log(source, source_id).log;
          batch.trims.push_back({log, record.first});
        }
      }
    }
    const auto committed = store_.commit(batch);
    if (!committed && committed.error().code == ErrorCode::kStale) continue;
    if (!committed) return fail(committed.error());
    if (removed) {
      forget(source, source_id);
      return clean_up(source, source_id);
    }
    return {};
  }
  return fail(ErrorCode::kUnavailable,
              fmt::format("the stream '{}' is being changed by others all the time: try again",
                          core::printable(source)));
}

Result<std::optional<StreamsCore::Made>> StreamsCore::try_fork(std::string_view source,
                                                               std::string_view name,
                                                               const ForkOptions& where,
                                                               const StreamOptions& options) {
  auto found = find_same(name, options, source, &where);
  if (!found || *found) return found;
  const auto stored = load(source);
  if (!stored) return fail(stored.error());
  if (!*stored) return fail(core::no_such_stream(source));
  if ((*stored)->record.deleted) return fail(core::kept_for_forks(source, ErrorCode::kConflict));
  const auto over = expired((*stored)->record);
  if (!over) return fail(over.error());
  if (*over) return fail(core::no_such_stream(source));

  Bytes prefix;
  const auto record = plan_fork(source, (*stored)->record, where, options, prefix);
  if (!record) return fail(record.error());
  if (auto good = check_chunks(core::is_json(record->content_type), options.chunks); !good)
    return fail(std::move(good.error()));
  if (auto pinned = pin(source, **stored, name, record->id); !pinned) {
    if (pinned.error().code == ErrorCode::kStale) return std::optional<Made>{};
    return fail(std::move(pinned.error()));
  }

  const LogKey log = core::stream_log(name, record->id);
  Batch batch{.home = log.home, .creates = {{.log = log.log, .first = record->base}}};
  std::vector<BytesView> chunks;
  if (!prefix.empty()) chunks.emplace_back(prefix);
  chunks.insert(chunks.end(), options.chunks.begin(), options.chunks.end());
  if (!chunks.empty() || options.closed)
    batch.appends.push_back({.log = log.log, .records = chunks, .close = options.closed});
  add_birth_rows(name, *record, batch);
  batch.puts.push_back({std::string{kBirthSpace}, record->id.text(), "born", 0});
  const auto committed = store_.commit(batch);
  if (!committed) {
    if (auto undone = unpin(source, record->source_id, record->id); !undone)
      return fail(std::move(undone.error()));
    if (committed.error().code == ErrorCode::kStale) return std::optional<Made>{};
    return fail(committed.error());
  }
  // If this fails the fork stands all the same; sweep() finishes.
  const Owed owed{OwedKind::kPin, std::string{source}, record->source_id, {}, record->id, {}};
  (void)store_.commit({.home = core::stream_home(source),
                       .deletes = {{std::string{kOutboxSpace}, owed_key(owed), {}}}});
  auto handle = adopt(name, *record);
  if (auto loaded = load_deadline_into(*handle); !loaded) return fail(std::move(loaded.error()));
  return std::optional{Made{std::move(handle), true}};
}

Result<StreamsCore::Made> StreamsCore::fork(std::string_view source, std::string_view name,
                                            const ForkOptions& where,
                                            const StreamOptions& options) {
  if (auto good = core::check_stream_name(source); !good) return fail(std::move(good.error()));
  if (auto good = core::check_stream_name(name); !good) return fail(std::move(good.error()));
  if (auto good = core::check_options(options); !good) return fail(std::move(good.error()));
  for (int tries = 0; tries < kTriesMax; ++tries) {
    auto made = try_fork(source, name, where, options);
    if (!made) return fail(std::move(made.error()));
    if (*made) return std::move(**made);
  }
  return fail(ErrorCode::kUnavailable,
              fmt::format("the streams '{}' and '{}' are being changed by others all the time: try "
                          "again",
                          core::printable(source), core::printable(name)));
}

}  // namespace holdfast::engine
