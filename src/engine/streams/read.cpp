// Reading: offsets resolved, inherited and own chunks stitched, uses noted.
#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "core/log/names.h"
#include "core/stream/fold.h"
#include "core/stream/fork_plan.h"
#include "engine/streams/core.h"

namespace holdfast::engine {
namespace {

// A folded read looks at most at this much for each byte it may return: runs of empty deltas fold
// to nothing.
constexpr std::size_t kFoldedLookAhead = 16;
constexpr int kTriesMax = 64;

Error below_first(std::string_view name, Offset from, Offset first) {
  return Error{ErrorCode::kGone,
               fmt::format("the stream '{}' was trimmed: offset {} is gone, its first chunk is now "
                           "{}; read from there",
                           core::printable(name), from.value, first.value)}
      .with(from.value, first.value);
}

void take_over(Records&& records, Chunks& chunks) {
  chunks.items.reserve(chunks.items.size() + records.items.size());
  for (const Record& record : records.items)
    chunks.items.push_back({record.offset, record.offset + 1, record.bytes});
  std::ranges::move(records.arena, std::back_inserter(chunks.arena));
  chunks.next = records.next;
}

// Puts folded lines where chunks stand: one block of bytes, views into it.
void put_folded(const core::Folder& folder, Chunks& chunks) {
  auto block = std::make_unique<char[]>(folder.bytes().size());
  if (!folder.bytes().empty())
    std::memcpy(block.get(), folder.bytes().data(), folder.bytes().size());
  chunks.items.reserve(folder.lines().size());
  for (const core::FoldedLine& line : folder.lines())
    chunks.items.push_back(
        {line.offset, line.next, BytesView{block.get() + line.begin, line.size}});
  chunks.arena.push_back(std::move(block));
}

}  // namespace

// --- Uses ---------------------------------------------------------------------------------------

Result<void> StreamsCore::check_alive(const HandlePtr& handle) {
  if (handle->gone) return fail(gone_error(*handle));
  const core::StreamRecord& record = handle->record;
  if (record.expires_at && *record.expires_at <= clock_.now())
    return fail(core::no_such_stream(handle->name));
  if (!record.ttl || handle->deadline.load() > clock_.now().ms) return {};
  // Another process may have renewed it.
  if (auto loaded = load_deadline_into(*handle); !loaded) return loaded;
  if (handle->deadline.load() > clock_.now().ms) return {};
  return fail(core::no_such_stream(handle->name));
}

Result<void> StreamsCore::note_use(const HandlePtr& handle) {
  if (auto alive = check_alive(handle); !alive) return alive;
  const auto& ttl = handle->record.ttl;
  for (int tries = 0; ttl && tries < kTriesMax; ++tries) {
    const Timestamp now = clock_.now();
    const Timestamp current{handle->deadline.load()};
    if (!core::must_slide(*ttl, now, current)) return {};
    const Timestamp deadline = core::slide_deadline(*ttl, now, current);
    const Batch batch{.home = handle->log.home,
                      .puts = {{std::string{kDeadlineSpace}, handle->record.id.text(),
                                core::encode_deadline(deadline), handle->deadline_version.load()}}};
    const auto committed = store_.commit(batch);
    if (committed) {
      handle->deadline = deadline.ms;
      handle->deadline_version = committed->row_versions.at(0);
      return {};
    }
    if (committed.error().code != ErrorCode::kStale) return fail(committed.error());
    if (auto loaded = load_deadline_into(*handle); !loaded) return loaded;
  }
  return {};
}

// --- Where --------------------------------------------------------------------------------------

Result<LogState> StreamsCore::tail(const HandlePtr& handle) {
  if (handle->gone) return fail(gone_error(*handle));
  auto state = store_.tail(handle->log);
  if (!state && state.error().code == ErrorCode::kNotFound) {
    forget(handle->name, handle->record.id);
    return fail(core::no_such_stream(handle->name));
  }
  if (!state) return fail(std::move(state.error()));
  core::StreamRecord shown = handle->record;
  shown.first = {handle->first.load()};
  state->first = core::shown_first(shown, state->first);
  handle->raise_first(state->first);
  return state;
}

Result<Offset> StreamsCore::resolve(const HandlePtr& handle, const From& from) {
  switch (from.kind()) {
    case From::Kind::kAt: return Offset{from.value()};
    case From::Kind::kBeginning: return Offset{handle->first.load()};
    case From::Kind::kLast: break;
  }
  const auto state = tail(handle);
  if (!state) return fail(state.error());
  const std::uint64_t kept = state->tail - state->first;
  return Offset{state->tail.value - std::min(kept, from.value())};
}

// --- Reading ------------------------------------------------------------------------------------

Result<Chunks> StreamsCore::read_at(const HandlePtr& handle, Offset from,
                                    const ReadLimits& limits) {
  if (handle->gone) return fail(gone_error(*handle));
  if (const Offset first{handle->first.load()}; from < first)
    return fail(below_first(handle->name, from, first));
  Chunks chunks;
  chunks.from = from;
  chunks.next = from;
  ReadLimits left{std::max<std::size_t>(limits.records_max, 1), limits.bytes_max};
  for (;;) {
    const core::Serving serving = core::serving_log(handle->name, handle->record, chunks.next);
    ReadLimits here = left;
    if (serving.end)
      here.records_max = std::min<std::size_t>(here.records_max, *serving.end - chunks.next);
    auto records = store_.read(serving.log, chunks.next, here);
    if (!records) {
      Error error = std::move(records.error());
      if (error.code == ErrorCode::kNotFound) {
        forget(handle->name, handle->record.id);
        return fail(gone_error(*handle));
      }
      if (error.code == ErrorCode::kGone) {
        const Offset first{error.actual};
        if (!serving.end) handle->raise_first(first);
        return fail(below_first(handle->name, from, first));
      }
      if (error.code == ErrorCode::kInvalidArgument) {
        error.message = fmt::format(
            "the stream '{}' ends at offset {}; offset {} does not exist yet: read from a cursor "
            "that was handed out",
            core::printable(handle->name), error.actual, from.value);
      }
      return fail(std::move(error));
    }
    std::size_t bytes = 0;
    for (const Record& record : records->items) bytes += record.bytes.size();
    const std::size_t count = records->items.size();
    const bool own = !serving.end;
    chunks.at_tail = own && records->at_tail;
    chunks.closed = own && records->closed;
    take_over(std::move(*records), chunks);
    if (own || chunks.next < *serving.end) return chunks;
    left.records_max -= std::min(left.records_max, count);
    left.bytes_max -= std::min(left.bytes_max, bytes);
    // With nothing left to give, the own log is asked only whether it has anything at all.
    if (left.records_max == 0 || left.bytes_max == 0) return chunks;
  }
}

Result<Chunks> StreamsCore::read_for_followers(const HandlePtr& handle, Offset from,
                                               const ReadLimits& limits) {
  auto chunks = read_at(handle, from, limits);
  if (!chunks || !chunks->closed || !chunks->items.empty()) return chunks;
  // Deletion closes a log that forks still need: the record tells.
  const auto stored = load(handle->name);
  if (!stored) return fail(stored.error());
  if (*stored && (*stored)->record.id == handle->record.id && !(*stored)->record.deleted)
    return chunks;
  forget(handle->name, handle->record.id);
  return fail(gone_error(*handle));
}

Result<Chunks> StreamsCore::read(const HandlePtr& handle, const ReadOptions& options) {
  if (auto used = note_use(handle); !used) return fail(std::move(used.error()));
  auto from = resolve(handle, options.from);
  if (!from) return fail(std::move(from.error()));
  const bool beginning = options.from.kind() == From::Kind::kBeginning;
  // A trim may come between the two; its first offset is then the beginning.
  const auto read_first = [&]() -> Result<Chunks> {
    for (int tries = 0;; ++tries) {
      auto chunks = read_at(handle, *from, options.limits);
      const bool gone = !chunks && chunks.error().code == ErrorCode::kGone;
      if (!gone || !beginning || chunks.error().actual <= from->value || tries == kTriesMax)
        return chunks;
      from = Offset{chunks.error().actual};
    }
  };
  auto page = read_first();
  if (!page || !options.folded) return page;

  core::Folder folder;
  Chunks folded;
  folded.from = page->from;
  std::size_t looked = 0;
  for (;;) {
    for (const Chunk& chunk : page->items) {
      const bool full =
          folder.line_count() >= options.limits.records_max && !folder.joins(chunk.bytes);
      const bool big = folder.bytes().size() + chunk.bytes.size() > options.limits.bytes_max;
      if (folder.line_count() > 0 && (full || big)) break;
      folder.push(chunk.bytes, chunk.offset, chunk.next);
      looked += chunk.bytes.size();
      folded.next = chunk.next;
    }
    if (page->items.empty()) folded.next = page->next;
    const bool read_whole = folded.next == page->next;
    folded.at_tail = read_whole && page->at_tail;
    folded.closed = read_whole && page->closed;
    const bool enough = looked / kFoldedLookAhead >= options.limits.bytes_max;
    if (!read_whole || page->at_tail || enough) break;
    page = read_at(handle, folded.next, options.limits);
    if (!page) return page;
  }
  folder.finish();
  put_folded(folder, folded);
  return folded;
}

}  // namespace holdfast::engine
