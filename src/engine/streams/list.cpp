// Listing and describing streams.
#include <algorithm>
#include <utility>

#include "core/stream/fork_plan.h"
#include "core/stream/lifecycle.h"
#include "engine/streams/core.h"

namespace holdfast::engine {
namespace {

constexpr std::size_t kListMax = 10'000;

StreamInfo describe(std::string_view name, const core::StreamRecord& record,
                    const LogState& state) {
  StreamInfo info;
  info.name = name;
  info.id = record.id;
  info.content_type = record.content_type;
  info.first = core::shown_first(record, state.first);
  info.tail = state.tail;
  info.closed = state.closed;
  info.bytes = state.bytes;
  info.created = record.created;
  info.ttl = record.ttl;
  info.expires_at = record.expires_at;
  info.retention = record.retention;
  info.forked_from = record.source;
  info.fork_offset = record.fork_at;
  return info;
}

}  // namespace

Result<StreamInfo> StreamsCore::info(const HandlePtr& handle) {
  if (auto alive = check_alive(handle); !alive) return fail(std::move(alive.error()));
  const auto stored = load(handle->name);
  if (!stored) return fail(stored.error());
  if (!*stored || (*stored)->record.id != handle->record.id || (*stored)->record.deleted) {
    forget(handle->name, handle->record.id);
    return fail(gone_error(*handle));
  }
  handle->refresh((*stored)->record);
  const auto state = tail(handle);
  if (!state) return fail(state.error());
  return describe(handle->name, (*stored)->record, *state);
}

Result<StreamPage> StreamsCore::list(std::string_view prefix, std::string_view after,
                                     std::size_t limit) {
  StreamPage page;
  const std::size_t wanted = std::clamp<std::size_t>(limit, 1, kListMax);
  KeyRange range = KeyRange::prefix(prefix);
  // The smallest key after `after` is itself and a zero byte.
  if (!after.empty() && std::string{after} >= range.from) range.from = std::string{after} + '\0';
  for (;;) {
    const std::size_t ask = wanted - page.streams.size();
    const auto rows = store_.scan(kStreamSpace, range, ask);
    if (!rows) return fail(rows.error());
    for (const Row& row : *rows) {
      range.from = row.key + '\0';
      const auto record = core::decode_record(row.value);
      if (!record) return fail(record.error());
      if (record->deleted) continue;
      const auto over = expired(*record);
      if (!over) return fail(over.error());
      if (*over) continue;
      const auto state = store_.tail(core::stream_log(row.key, record->id));
      if (!state && state.error().code == ErrorCode::kNotFound) continue;  // removed meanwhile
      if (!state) return fail(state.error());
      page.streams.push_back(describe(row.key, *record, *state));
    }
    if (rows->size() < ask) return page;
    if (page.streams.size() == wanted) {
      page.next_after = rows->back().key;
      return page;
    }
  }
}

Result<Watch> StreamsCore::watch_list(WatchCallback changed) {
  return store_.watch_space(kStreamSpace, std::move(changed));
}

}  // namespace holdfast::engine
