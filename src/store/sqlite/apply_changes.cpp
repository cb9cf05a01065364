// The changing half of Applier: what each part of a batch does to the file.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <holdfast/check.h>

#include "store/sqlite/apply.h"
#include "store/sqlite/block_errors.h"

namespace holdfast::store {
namespace {

// Records this far apart in time do not share a block, so that trimming by age stays exact where
// records are rare.
constexpr std::int64_t kBlockSpanMsMax = 60'000;
// How far the stored bound of deleted versions runs ahead, so that few deletes have to move it.
constexpr std::uint64_t kDeletedVersionStep = 1'024;

}  // namespace

Result<Committed> Applier::apply(const Batch& batch) {
  Committed committed;
  for (std::size_t i = 0; i < batch.creates.size(); ++i) {
    if (auto ok = create(batch, batch.creates[i], *create_slots_[i]); !ok) return fail(ok.error());
  }
  committed.appends.reserve(batch.appends.size());
  const Timestamp now = batch.appends.empty() ? Timestamp{} : setup_.clock.now();
  for (std::size_t i = 0; i < batch.appends.size(); ++i) {
    const auto range = append(batch.appends[i], *append_slots_[i], now);
    if (!range) return fail(range.error());
    committed.appends.push_back(*range);
  }
  for (std::size_t i = 0; i < batch.trims.size(); ++i) {
    if (auto ok = trim(batch.trims[i], *trim_slots_[i]); !ok) return fail(ok.error());
  }
  for (const LogRemove& removed : batch.removes) {
    const auto found = slot(batch.home, removed.log);
    if (!found) return fail(found.error());
    if (auto ok = remove(batch, removed, **found); !ok) return fail(ok.error());
  }
  for (std::size_t i = 0; i < batch.puts.size(); ++i) {
    const auto version = put(batch, batch.puts[i], put_rows_[i].version);
    if (!version) return fail(version.error());
    committed.row_versions.push_back(*version);
  }
  for (std::size_t i = 0; i < batch.deletes.size(); ++i) {
    std::uint64_t version = delete_rows_[i].version;
    if (!batch.puts.empty()) {  // it may be one that this batch has just put
      auto row = find_row(batch.deletes[i].space, batch.deletes[i].key);
      if (!row) return fail(std::move(row.error()));
      version = row->version;
    }
    if (auto ok = erase(batch.deletes[i], version); !ok) return fail(ok.error());
  }
  return committed;
}

void Applier::touch(Slot& slot) {
  if (std::exchange(slot.dirty, true)) return;
  dirty_.push_back(&slot);
}

Result<void> Applier::write_tail(Slot& slot) {
  const BytesView bytes = slot.tail.finish();
  put_block_.bind_key(1, slot.tail.key().value);
  put_block_.bind_blob(2, bytes);
  if (!put_block_.run()) return fail(sql_error("write to"));
  slot.dirty = false;
  ++tally_.rows;
  return {};
}

// Leaves the tail block as it is and starts the next.
Result<void> Applier::start_block(Slot& slot) {
  if (slot.dirty) {
    if (auto ok = write_tail(slot); !ok) return ok;
  }
  slot.growth += slot.tail.bytes();
  if (setup_.grown && slot.growth >= setup_.growth_bytes) {
    slot.growth = 0;
    grown_.push_back(slot.id);
  }
  slot.tail.advance();
  touch(slot);
  return {};
}

// --- Logs ---------------------------------------------------------------------------------------

Result<void> Applier::create(const Batch& batch, const LogCreate& create, Slot& slot) {
  if (slot.exists) return {};
  insert_log_.bind_text(1, batch.home);
  insert_log_.bind_text(2, create.log);
  if (!insert_log_.run()) return fail(sql_error("make a log in"));
  const auto id = static_cast<std::uint64_t>(sqlite3_last_insert_rowid(setup_.connection.get()));
  if (id > core::kLogIdsMax) {
    return fail(Error{ErrorCode::kTooLarge,
                      fmt::format("'{}' has had {} logs, the most that one file can name: start a "
                                  "new store",
                                  setup_.connection.path(), core::kLogIdsMax)}
                    .with(core::kLogIdsMax, id));
  }
  slot.exists = true;
  slot.id = id;
  slot.tail = core::HotBlock{core::BlockKey::make(id, create.first), {.log_first = create.first}};
  touch(slot);
  ++tally_.rows;
  made_.emplace_back(log_path(batch.home, create.log), id);
  return {};
}

Result<AppendedRange> Applier::append(const LogAppend& append, Slot& slot, Timestamp now) {
  core::HotBlock& tail = slot.tail;
  const Offset first = tail.state().tail;
  const AppendedRange range{first, first + append.records.size()};
  if (tail.header().closed) return range;  // closed again, without records: nothing changes
  const bool epoch_grows = append.epoch && *append.epoch > tail.header().epoch;
  if (append.records.empty() && !append.close && !epoch_grows) return range;

  const bool stale_block =
      tail.header().count > 0 && now.ms - tail.header().time.ms > kBlockSpanMsMax;
  // A block larger than a page is not written again for the sake of its header.
  const bool big_block = append.records.empty() && tail.bytes() > core::kHotBlockBytesMax;
  if ((stale_block && !append.records.empty()) || big_block) {
    if (auto ok = start_block(slot); !ok) return fail(ok.error());
  }
  for (const BytesView record : append.records) {
    if (!tail.fits(record.size())) {
      if (auto ok = start_block(slot); !ok) return fail(ok.error());
    }
    tail.add(record);
    tail.header().time = std::max(tail.header().time, now);
    touch(slot);
    tally_.bytes += record.size();
  }
  tally_.records += append.records.size();
  if (epoch_grows) tail.header().epoch = *append.epoch;
  tail.header().closed = append.close;
  touch(slot);
  return range;
}

Result<void> Applier::trim(const LogTrim& trim, Slot& slot) {
  core::HotBlock& tail = slot.tail;
  const LogState state = tail.state();
  const Offset before = std::clamp(trim.before, state.first, state.tail);
  if (before == state.first) return {};
  if (before == state.tail) {
    if (auto ok = delete_blocks(first_key(slot.id), core::BlockKey{last_key(slot.id).value + 1});
        !ok) {
      return ok;
    }
    tail.advance();
  } else {
    core::BlockKey keep = tail.key();
    if (before < keep.first()) {
      const Using use{find_block_};
      find_block_.bind_key(1, first_key(slot.id).value);
      find_block_.bind_key(2, core::BlockKey::make(slot.id, before).value);
      const int rc = find_block_.step();
      if (rc != SQLITE_ROW && rc != SQLITE_DONE) return fail(sql_error("trim a log of"));
      if (rc == SQLITE_ROW) keep = core::BlockKey{find_block_.column_key(0)};
      Counters::add(setup_.counters.rows_read);
    }
    if (auto ok = delete_blocks(first_key(slot.id), keep); !ok) return ok;
    if (!slot.dirty && tail.bytes() > core::kHotBlockBytesMax) tail.advance();
  }
  tail.header().log_first = before;
  touch(slot);
  return {};
}

Result<void> Applier::remove(const Batch& batch, const LogRemove& remove, Slot& slot) {
  if (!slot.exists) return {};
  if (auto ok = delete_blocks(first_key(slot.id), core::BlockKey{last_key(slot.id).value + 1});
      !ok) {
    return ok;
  }
  delete_log_.bind_key(1, slot.id);
  if (!delete_log_.run()) return fail(sql_error("remove a log of"));
  ++tally_.rows;
  slot.exists = false;
  slot.dirty = false;
  slot.id = 0;
  std::string path = log_path(batch.home, remove.log);
  std::erase_if(made_, [&](const auto& item) { return item.first == path; });
  removed_.push_back(std::move(path));
  return {};
}

Result<void> Applier::delete_blocks(core::BlockKey from, core::BlockKey to) {
  if (from >= to) return {};
  delete_blocks_.bind_key(1, from.value);
  delete_blocks_.bind_key(2, to.value);
  if (!delete_blocks_.run()) return fail(sql_error("trim a log of"));
  tally_.rows += static_cast<std::uint64_t>(sqlite3_changes64(setup_.connection.get()));
  return {};
}

// --- Rows ---------------------------------------------------------------------------------------

Result<void> Applier::load_deleted_version() {
  if (deleted_version_generation_ == generation_) return {};
  const Using use{find_counter_};
  if (find_counter_.step() != SQLITE_ROW) return fail(sql_error("read a counter of"));
  deleted_version_ = deleted_version_stored_ = find_counter_.column_key(0);
  deleted_version_generation_ = generation_;
  return {};
}

Result<std::uint64_t> Applier::put(const Batch& batch, const RowPut& put, std::uint64_t version) {
  if (version == 0) {
    if (auto ok = load_deleted_version(); !ok) return fail(std::move(ok.error()));
    version = deleted_version_;
  }
  ++version;
  put_row_.bind_text(1, put.space);
  put_row_.bind_blob(2, put.key);
  put_row_.bind_text(3, batch.home);
  put_row_.bind_key(4, version);
  put_row_.bind_key(5, row_checksum(put.space, put.key, batch.home, version, put.value));
  put_row_.bind_blob(6, put.value);
  if (!put_row_.run()) return fail(sql_error("write a row of"));
  ++tally_.rows;
  tally_.bytes += put.value.size();
  return version;
}

Result<void> Applier::erase(const RowDelete& part, std::uint64_t version) {
  if (version == 0) return {};
  if (auto ok = load_deleted_version(); !ok) return ok;
  if (version > deleted_version_stored_) {
    deleted_version_stored_ = version + kDeletedVersionStep;
    set_counter_.bind_key(1, deleted_version_stored_);
    if (!set_counter_.run()) return fail(sql_error("write a counter of"));
  }
  deleted_version_ = std::max(deleted_version_, version);
  delete_row_.bind_text(1, part.space);
  delete_row_.bind_blob(2, part.key);
  if (!delete_row_.run()) return fail(sql_error("delete a row of"));
  ++tally_.rows;
  return {};
}

}  // namespace holdfast::store
