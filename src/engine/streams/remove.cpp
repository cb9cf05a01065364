// Removing: one commit ends the stream; what is then owed (its producers' rows, its hold on its
// source) stands in the outbox until it is done.
#include <utility>

#include <fmt/format.h>

#include "core/log/names.h"
#include "core/stream/lifecycle.h"
#include "engine/streams/core.h"
#include "engine/streams/rows.h"

namespace holdfast::engine {
namespace {

constexpr int kTriesMax = 64;
constexpr std::size_t kPurgePage = 1'000;

}  // namespace

Result<void> StreamsCore::removal_batch(std::string_view name, const core::StreamRecord& record,
                                        Batch& batch) {
  const std::string id = record.id.text();
  batch.removes.push_back({core::stream_log(name, record.id).log});
  batch.deletes.push_back({std::string{kSeqSpace}, id, {}});
  batch.deletes.push_back({std::string{kBirthSpace}, id, {}});
  if (record.expires_at) {
    batch.deletes.push_back({std::string{kDueSpace},
                             due_row(*record.expires_at, DueKind::kExpiry, name, record.id).key,
                             {}});
  }
  batch.puts.push_back(owed_row({OwedKind::kCleanUp, std::string{name}, record.id, record.source,
                                 record.source_id, clock_.now()}));
  return {};
}

Result<void> StreamsCore::remove_stored(std::string_view name, const StoredRecord& stored,
                                        Why why) {
  const core::StreamRecord& record = stored.record;
  Batch batch{.home = core::stream_home(name)};
  if (record.ttl) {
    // Under the version of the deadline that has passed: a use that came after keeps the stream.
    std::uint64_t version = 0;
    const auto deadline = load_deadline(record, version);
    if (!deadline) return fail(deadline.error());
    if (why == Why::kExpired && (!*deadline || **deadline > clock_.now())) return {};
    const auto expected = why == Why::kExpired ? std::optional{version} : std::nullopt;
    batch.deletes.push_back({std::string{kDeadlineSpace}, record.id.text(), expected});
  }
  const bool kept = record.forks > 0;
  if (kept) {
    core::StreamRecord left = record;
    left.deleted = true;
    batch.puts.push_back(
        {std::string{kStreamSpace}, std::string{name}, core::encode_record(left), stored.version});
    batch.appends.push_back({.log = core::stream_log(name, record.id).log, .close = true});
  } else {
    if (auto planned = removal_batch(name, record, batch); !planned) return planned;
    batch.deletes.push_back({std::string{kStreamSpace}, std::string{name}, stored.version});
  }
  auto committed = store_.commit(batch);
  if (!committed) {
    // Somebody changed or used it: the caller looks again.
    if (why == Why::kExpired && committed.error().code == ErrorCode::kStale) return {};
    return fail(std::move(committed.error()));
  }
  forget(name, record.id);
  if (kept) return {};
  return clean_up(name, record.id);
}

Result<void> StreamsCore::remove(std::string_view name) {
  if (auto good = core::check_stream_name(name); !good) return good;
  for (int tries = 0; tries < kTriesMax; ++tries) {
    const auto stored = load(name);
    if (!stored) return fail(stored.error());
    if (!*stored) return fail(core::no_such_stream(name));
    if ((*stored)->record.deleted) return fail(core::kept_for_forks(name, ErrorCode::kGone));
    const auto over = expired((*stored)->record);
    if (!over) return fail(over.error());
    auto removed = remove_stored(name, **stored, Why::kAsked);
    if (removed && *over) return fail(core::no_such_stream(name));
    if (removed || removed.error().code != ErrorCode::kStale) return removed;
  }
  return fail(ErrorCode::kUnavailable,
              fmt::format("the stream '{}' is being changed by others all the time: try again",
                          core::printable(name)));
}

Result<bool> StreamsCore::purge_rows(std::string_view space, std::string_view home,
                                     const Ulid& id) {
  const auto rows = store_.scan(space, KeyRange::prefix(id.text() + "/"), kPurgePage);
  if (!rows) return fail(rows.error());
  if (rows->empty()) return false;
  Batch batch{.home = std::string{home}};
  for (const Row& row : *rows) batch.deletes.push_back({std::string{space}, row.key, {}});
  if (auto committed = store_.commit(batch); !committed) return fail(std::move(committed.error()));
  return rows->size() == kPurgePage;
}

Result<void> StreamsCore::clean_up(std::string_view name, const Ulid& id) {
  const std::string home = core::stream_home(name);
  const std::string key = owed_key({OwedKind::kCleanUp, std::string{name}, id, {}, {}, {}});
  const auto row = store_.get(kOutboxSpace, key);
  if (!row) return fail(row.error());
  if (!*row) return {};
  const auto owed = decode_owed((*row)->value);
  if (!owed) return fail(owed.error());
  for (const std::string_view space : {kProducerSpace, kImportSpace}) {
    for (bool more = true; more;) {
      const auto purged = purge_rows(space, home, id);
      if (!purged) return fail(purged.error());
      more = *purged;
    }
  }
  // May end the source, which may end its own: as deep as there are ancestors.
  if (!owed->other.empty()) {
    if (auto released = unpin(owed->other, owed->other_id, id); !released) return released;
  }
  auto done = store_.commit({.home = home, .deletes = {{std::string{kOutboxSpace}, key, {}}}});
  if (!done) return fail(std::move(done.error()));
  return {};
}

}  // namespace holdfast::engine
