// Sweeping: what has come due, and what a crash left owed. Costs what there is to do.
#include <algorithm>
#include <utility>

#include "core/stream/lifecycle.h"
#include "core/stream/retention.h"
#include "engine/streams/core.h"
#include "engine/streams/rows.h"

namespace holdfast::engine {
namespace {

constexpr std::size_t kPage = 256;
// A pin this young may belong to a fork that is being made. Judging it too early does no harm: the
// fork is then made again under another id.
constexpr std::int64_t kPinAgeMsMin = 10'000;
// The mark that undoes a fork stays this long, for a maker that was stopped in the middle.
constexpr std::int64_t kVoidKeptMs = 86'400'000;

}  // namespace

Result<void> StreamsCore::settle_pin(const Row& row) {
  const auto owed = decode_owed(row.value);
  if (!owed) return fail(owed.error());
  const std::string fork_home = core::stream_home(owed->other);
  const std::string key = owed->other_id.text();
  const auto birth = store_.get(kBirthSpace, key);
  if (!birth) return fail(birth.error());
  if (!*birth) {
    if (clock_.now().ms - owed->since.ms < kPinAgeMsMin && clock_.now().ms >= owed->since.ms)
      return {};
    Batch undo{.home = fork_home};
    undo.puts.push_back({std::string{kBirthSpace}, key, "undone", 0});
    undo.puts.push_back(
        due_row({clock_.now().ms + kVoidKeptMs}, DueKind::kVoid, owed->other, owed->other_id));
    const auto committed = store_.commit(undo);
    if (!committed && committed.error().code == ErrorCode::kStale) return settle_pin(row);
    if (!committed) return fail(committed.error());
    return unpin(owed->name, owed->id, owed->other_id);
  }
  if ((*birth)->value != "born") return unpin(owed->name, owed->id, owed->other_id);
  const auto done = store_.commit({.home = core::stream_home(owed->name),
                                   .deletes = {{std::string{kOutboxSpace}, row.key, {}}}});
  if (!done) return fail(done.error());
  return {};
}

Result<void> StreamsCore::finish_outbox() {
  KeyRange range;
  for (;;) {
    const auto rows = store_.scan(kOutboxSpace, range, kPage);
    if (!rows) return fail(rows.error());
    for (const Row& row : *rows) {
      const auto owed = decode_owed(row.value);
      if (!owed) return fail(owed.error());
      auto done = owed->kind == OwedKind::kPin ? settle_pin(row) : clean_up(owed->name, owed->id);
      if (!done) return done;
      range.from = row.key + '\0';
    }
    if (rows->size() < kPage) return {};
  }
}

Result<void> StreamsCore::handle_due(const Row& row, Timestamp now) {
  const auto due = decode_due(row.value);
  if (!due) return fail(due.error());
  Batch batch{.home = core::stream_home(due->name)};
  batch.deletes.push_back({std::string{kDueSpace}, row.key, {}});
  const auto stored = load(due->name);
  if (!stored) return fail(stored.error());
  const bool there = *stored && (*stored)->record.id == due->id && !(*stored)->record.deleted;
  if (due->kind == DueKind::kVoid) {
    batch.deletes.push_back({std::string{kBirthSpace}, due->id.text(), {}});
  } else if (due->kind == DueKind::kExpiry && there) {
    std::uint64_t version = 0;
    const auto deadline = load_deadline((*stored)->record, version);
    if (!deadline) return fail(deadline.error());
    if (*deadline && **deadline <= now) {
      if (auto removed = remove_stored(due->name, **stored, Why::kExpired); !removed)
        return removed;
      // If a use came in between, the row stays for the next look.
      const auto again = load(due->name);
      if (!again) return fail(again.error());
      if (*again && (*again)->record.id == due->id && !(*again)->record.deleted) return {};
    } else if (*deadline) {
      batch.puts.push_back(due_row(**deadline, DueKind::kExpiry, due->name, due->id));
    }
  } else if (due->kind == DueKind::kAge && there && (*stored)->record.retention.age_max) {
    const auto handle = adopt(due->name, (*stored)->record);
    auto applied = apply_retention(handle);
    if (!applied && applied.error().code != ErrorCode::kNotFound) return applied;
    const Timestamp look{now.ms + core::age_look_again_ms((*stored)->record.retention)};
    batch.puts.push_back(due_row(look, DueKind::kAge, due->name, due->id));
  }
  const auto committed = store_.commit(batch);
  if (!committed) return fail(committed.error());
  return {};
}

Result<std::optional<Timestamp>> StreamsCore::sweep() {
  if (auto done = finish_outbox(); !done) return fail(std::move(done.error()));
  const Timestamp now = clock_.now();
  KeyRange due;
  due.to = due_time_key({now.ms + 1});
  for (;;) {
    const auto rows = store_.scan(kDueSpace, due, kPage);
    if (!rows) return fail(rows.error());
    for (const Row& row : *rows) {
      if (auto done = handle_due(row, now); !done) return fail(std::move(done.error()));
      due.from = row.key + '\0';
    }
    if (rows->size() < kPage) break;
  }
  const auto next = store_.scan(kDueSpace, {}, 1);
  if (!next) return fail(next.error());
  if (next->empty()) return std::optional<Timestamp>{};
  return std::optional{due_time(next->front().key)};
}

}  // namespace holdfast::engine
