// Making and opening streams, and what a handle knows.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/json.h"
#include "core/log/names.h"
#include "core/stream/lifecycle.h"
#include "engine/streams/core.h"
#include "engine/streams/rows.h"

namespace holdfast::engine {
namespace {

constexpr std::size_t kHandlesMax = 8'192;
// A create that loses to others this often meets a storm, not a race.
constexpr int kTriesMax = 64;

}  // namespace

StreamsCore::StreamsCore(Store& store, const Clock& clock, Random random)
    : store_{store}, clock_{clock}, random_{random} {}

Ulid StreamsCore::make_id() {
  const auto now = static_cast<std::uint64_t>(std::max<std::int64_t>(clock_.now().ms, 0));
  const std::lock_guard lock{mutex_};
  return Ulid::make(now, random_);
}

// --- Rows ---------------------------------------------------------------------------------------

Result<std::optional<StoredRecord>> StreamsCore::load(std::string_view name) {
  auto row = store_.get(kStreamSpace, name);
  if (!row) return fail(std::move(row.error()));
  if (!*row) return std::optional<StoredRecord>{};
  auto record = core::decode_record((*row)->value);
  if (!record) return fail(std::move(record.error()));
  return StoredRecord{std::move(*record), (*row)->version};
}

Result<std::optional<Timestamp>> StreamsCore::load_deadline(const core::StreamRecord& record,
                                                            std::uint64_t& version) {
  version = 0;
  if (!record.ttl) return record.expires_at;
  auto row = store_.get(kDeadlineSpace, record.id.text());
  if (!row) return fail(std::move(row.error()));
  if (!*row) return std::optional<Timestamp>{};
  auto deadline = core::decode_deadline((*row)->value);
  if (!deadline) return fail(std::move(deadline.error()));
  version = (*row)->version;
  return std::optional{*deadline};
}

Result<bool> StreamsCore::expired(const core::StreamRecord& record) {
  std::uint64_t version = 0;
  const auto deadline = load_deadline(record, version);
  if (!deadline) return fail(deadline.error());
  return *deadline && **deadline <= clock_.now();
}

// --- Handles ------------------------------------------------------------------------------------

HandlePtr StreamsCore::adopt(std::string_view name, const core::StreamRecord& record) {
  const std::lock_guard lock{mutex_};
  if (handles_.size() >= kHandlesMax) {
    std::erase_if(handles_, [](const auto& item) { return item.second.use_count() == 1; });
  }
  auto& handle = handles_[std::string{name}];
  if (!handle || handle->record.id != record.id) {
    if (handle) handle->gone = true;
    handle = std::make_shared<StreamHandle>(std::string{name}, record);
  } else {
    handle->refresh(record);
  }
  return handle;
}

void StreamsCore::forget(std::string_view name, const Ulid& id) {
  const std::lock_guard lock{mutex_};
  const auto at = handles_.find(std::string{name});
  if (at == handles_.end() || at->second->record.id != id) return;
  at->second->gone = true;
  handles_.erase(at);
}

Result<void> StreamsCore::load_deadline_into(StreamHandle& handle) {
  if (!handle.record.ttl) return {};
  std::uint64_t version = 0;
  const auto deadline = load_deadline(handle.record, version);
  if (!deadline) return fail(deadline.error());
  if (!*deadline) return fail(core::no_such_stream(handle.name));
  handle.deadline = (*deadline)->ms;
  handle.deadline_version = version;
  return {};
}

Error StreamsCore::gone_error(StreamHandle& handle) {
  const auto stored = load(handle.name);
  if (stored && *stored && (*stored)->record.id == handle.record.id && (*stored)->record.deleted)
    return core::kept_for_forks(handle.name, ErrorCode::kGone);
  return core::no_such_stream(handle.name);
}

Result<HandlePtr> StreamsCore::open(std::string_view name) {
  if (auto good = core::check_stream_name(name); !good) return fail(std::move(good.error()));
  const auto stored = load(name);
  if (!stored) return fail(stored.error());
  if (!*stored) return fail(core::no_such_stream(name));
  const core::StreamRecord& record = (*stored)->record;
  if (record.deleted) return fail(core::kept_for_forks(name, ErrorCode::kGone));
  auto handle = adopt(name, record);
  // A cached deadline that has not passed is as good as its row: rows only move it on.
  const bool fresh = record.ttl && handle->deadline.load() > clock_.now().ms;
  if (!fresh) {
    if (auto loaded = load_deadline_into(*handle); !loaded) return fail(std::move(loaded.error()));
  }
  if (auto alive = check_alive(handle); !alive) return fail(std::move(alive.error()));
  return handle;
}

// --- Creating -----------------------------------------------------------------------------------

Result<void> StreamsCore::check_chunks(bool json, std::span<const BytesView> chunks) const {
  if (!json) return {};
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    if (auto good = check_json(chunks[i]); !good) {
      Error error = std::move(good.error());
      error.message =
          fmt::format("chunk {} of {} is {}: a JSON stream takes one JSON value per chunk", i + 1,
                      chunks.size(), error.message);
      return fail(std::move(error));
    }
  }
  return {};
}

void StreamsCore::add_birth_rows(std::string_view name, const core::StreamRecord& record,
                                 Batch& batch) const {
  batch.puts.push_back(
      {std::string{kStreamSpace}, std::string{name}, core::encode_record(record), 0});
  std::optional<Timestamp> due = record.expires_at;
  if (record.ttl) {
    due = core::slide_deadline(*record.ttl, record.created, {});
    batch.puts.push_back(
        {std::string{kDeadlineSpace}, record.id.text(), core::encode_deadline(*due), {}});
  }
  if (due) batch.puts.push_back(due_row(*due, DueKind::kExpiry, name, record.id));
  if (record.retention.age_max) {
    const Timestamp look{record.created.ms + core::age_look_again_ms(record.retention)};
    batch.puts.push_back(due_row(look, DueKind::kAge, name, record.id));
  }
}

Result<std::optional<StreamsCore::Made>> StreamsCore::find_same(std::string_view name,
                                                                const StreamOptions& options,
                                                                std::string_view source,
                                                                const ForkOptions* where) {
  const auto stored = load(name);
  if (!stored) return fail(stored.error());
  if (!*stored) return std::optional<Made>{};
  const core::StreamRecord& record = (*stored)->record;
  if (record.deleted) return fail(core::kept_for_forks(name, ErrorCode::kConflict));
  const auto over = expired(record);
  if (!over) return fail(over.error());
  if (*over) {
    if (auto removed = remove_stored(name, **stored, Why::kExpired); !removed)
      return fail(std::move(removed.error()));
    return find_same(name, options, source, where);
  }
  auto handle = adopt(name, record);
  if (auto loaded = load_deadline_into(*handle); !loaded) return fail(std::move(loaded.error()));
  bool closed = false;
  if (options.closed) {
    const auto state = tail(handle);
    if (!state) return fail(state.error());
    closed = state->closed;
  }
  if (auto same = core::decide_same(name, record, closed, options, source, where); !same)
    return fail(std::move(same.error()));
  return std::optional{Made{std::move(handle), false}};
}

Result<StreamsCore::Made> StreamsCore::create(std::string_view name, const StreamOptions& options) {
  if (auto good = core::check_stream_name(name); !good) return fail(std::move(good.error()));
  if (auto good = core::check_options(options); !good) return fail(std::move(good.error()));
  if (auto good = check_chunks(core::is_json(options.content_type), options.chunks); !good)
    return fail(std::move(good.error()));
  for (int tries = 0; tries < kTriesMax; ++tries) {
    auto found = find_same(name, options, {}, nullptr);
    if (!found) return fail(std::move(found.error()));
    if (*found) return std::move(**found);

    core::StreamRecord record;
    record.id = make_id();
    record.content_type =
        options.content_type.empty() ? "application/octet-stream" : options.content_type;
    record.ttl = options.ttl;
    record.expires_at = options.expires_at;
    record.created = clock_.now();
    record.retention = options.retention;
    const LogKey log = core::stream_log(name, record.id);
    Batch batch{.home = log.home, .creates = {{.log = log.log}}};
    if (!options.chunks.empty() || options.closed)
      batch.appends.push_back({.log = log.log, .records = options.chunks, .close = options.closed});
    add_birth_rows(name, record, batch);
    const auto committed = store_.commit(batch);
    if (!committed && committed.error().code == ErrorCode::kStale) continue;
    if (!committed) return fail(committed.error());
    auto handle = adopt(name, record);
    if (record.ttl) {
      handle->deadline = core::slide_deadline(*record.ttl, record.created, {}).ms;
      handle->deadline_version = committed->row_versions.at(1);
    }
    return Made{std::move(handle), true};
  }
  return fail(ErrorCode::kUnavailable,
              fmt::format("the stream '{}' is being made and removed by others all the time: try "
                          "again",
                          core::printable(name)));
}

}  // namespace holdfast::engine
