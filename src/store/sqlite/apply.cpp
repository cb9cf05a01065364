#include "store/sqlite/apply.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/log/batch_check.h"
#include "store/sqlite/block_errors.h"

namespace holdfast::store {
namespace {

constexpr std::size_t kSlotsMax = 4'096;
constexpr std::size_t kSlotBytesMax = 16'384;  // larger tail blocks are not kept

}  // namespace

Result<std::unique_ptr<Applier>> Applier::make(const Setup& setup) {
  std::unique_ptr<Applier> applier{new Applier{setup}};
  if (auto ok = applier->prepare(); !ok) return fail(std::move(ok.error()));
  return applier;
}

Result<void> Applier::prepare() {
  const std::pair<Statement*, const char*> statements[] = {
      {&begin_, "BEGIN IMMEDIATE"},
      {&commit_, "COMMIT"},
      {&snapshot_, "SELECT 1 FROM sqlite_schema"},
      {&find_log_, "SELECT id FROM logs WHERE home=?1 AND name=?2"},
      {&find_tail_,
       "SELECT key, data FROM blocks WHERE key BETWEEN ?1 AND ?2 ORDER BY key DESC LIMIT 1"},
      {&find_block_,
       "SELECT key FROM blocks WHERE key BETWEEN ?1 AND ?2 ORDER BY key DESC LIMIT 1"},
      {&put_block_, "REPLACE INTO blocks(key, data) VALUES(?1, ?2)"},
      {&delete_blocks_, "DELETE FROM blocks WHERE key >= ?1 AND key < ?2"},
      {&insert_log_, "INSERT INTO logs(home, name) VALUES(?1, ?2)"},
      {&delete_log_, "DELETE FROM logs WHERE id=?1"},
      {&find_row_, "SELECT home, version FROM rows WHERE space=?1 AND key=?2"},
      {&put_row_,
       "REPLACE INTO rows(space, key, home, version, checksum, value) VALUES(?1, ?2, ?3, ?4, ?5, "
       "?6)"},
      {&delete_row_, "DELETE FROM rows WHERE space=?1 AND key=?2"},
      {&find_counter_, "SELECT value FROM counters WHERE name='row_version_deleted'"},
      {&set_counter_, "UPDATE counters SET value=?1 WHERE name='row_version_deleted'"},
  };
  for (const auto& [statement, sql] : statements) {
    auto prepared = Statement::prepare(setup_.connection, sql);
    if (!prepared) return fail(std::move(prepared.error()));
    *statement = std::move(*prepared);
  }
  return {};
}

Error Applier::sql_error(std::string_view doing) {
  failed_ = true;
  return setup_.connection.error(doing);
}

// --- The transaction ----------------------------------------------------------------------------

void Applier::leave_snapshot() noexcept {
  if (std::exchange(keeps_snapshot_, false)) snapshot_.reset();
}

Result<void> Applier::begin(bool keep_snapshot) {
  failed_ = false;
  tally_ = {};
  dirty_.clear();
  if (slots_.size() > kSlotsMax) slots_.clear();
  // From a kept snapshot it fails at once if another has written or is writing; without one SQLite
  // waits.
  bool begun = keeps_snapshot_ && begin_.run();
  if (!begun) {
    leave_snapshot();
    begun = begin_.run();
  }
  if (!begun) return fail(sql_error("begin a commit in"));
  if (keep_snapshot && !keeps_snapshot_) {
    if (snapshot_.step() != SQLITE_ROW) {
      snapshot_.reset();
      return fail(sql_error("read"));
    }
    keeps_snapshot_ = true;
  }
  if (const std::uint32_t version = setup_.connection.data_version(); version != data_version_) {
    data_version_ = version;
    ++generation_;
  }
  return {};
}

Result<Committed> Applier::add(const Batch& batch) {
  if (auto ok = check(batch); !ok) return fail(std::move(ok.error()));
  auto committed = apply(batch);
  if (!committed) {
    failed_ = true;  // half of it may be in the transaction
    return committed;
  }
  ++tally_.commits;
  return committed;
}

Result<void> Applier::finish() {
  for (Slot* slot : dirty_) {
    if (!slot->dirty) continue;
    if (auto ok = write_tail(*slot); !ok) return ok;
  }
  if (!commit_.run()) return fail(sql_error("commit to"));
  data_version_ = setup_.connection.data_version();
  for (const auto& path : removed_) setup_.ids.forget(path);
  for (const auto& [path, id] : made_) setup_.ids.remember(path, id);
  removed_.clear();
  made_.clear();
  for (const std::uint64_t id : grown_) setup_.grown(id);
  grown_.clear();
  std::erase_if(dirty_, [](const Slot* slot) { return slot->tail.bytes() <= kSlotBytesMax; });
  if (!dirty_.empty()) {
    std::erase_if(slots_,
                  [](const auto& item) { return item.second.tail.bytes() > kSlotBytesMax; });
  }
  dirty_.clear();

  Counters& counters = setup_.counters;
  if (tally_.commits > 0) Counters::add(counters.transactions);
  Counters::add(counters.commits, tally_.commits);
  Counters::add(counters.records_written, tally_.records);
  Counters::add(counters.bytes_written, tally_.bytes);
  Counters::add(counters.rows_written, tally_.rows);
  return {};
}

void Applier::abandon() noexcept {
  leave_snapshot();
  setup_.connection.rollback();
  slots_.clear();
  dirty_.clear();
  made_.clear();
  removed_.clear();
  grown_.clear();
  ++generation_;
}

// --- Finding ------------------------------------------------------------------------------------

Result<Applier::Slot*> Applier::slot(std::string_view home, std::string_view log) {
  path_.assign(home).append(1, '\0').append(log);
  auto at = slots_.find(std::string_view{path_});
  if (at == slots_.end()) at = slots_.emplace(path_, Slot{}).first;
  Slot& found = at->second;
  if (found.generation == generation_) return &found;
  if (auto ok = load(found, home, log); !ok) return fail(std::move(ok.error()));
  found.generation = generation_;
  return &found;
}

Result<void> Applier::load(Slot& slot, std::string_view home, std::string_view log) {
  slot.exists = false;
  slot.dirty = false;
  if (slot.id == 0) slot.id = setup_.ids.find(path_).value_or(0);
  if (slot.id != 0) {
    auto there = load_tail(slot, home, log);
    if (!there) return fail(std::move(there.error()));
    if (*there) return {};
    setup_.ids.forget(path_);
    slot.id = 0;
  }
  {
    const Using use{find_log_};
    find_log_.bind_text(1, home);
    find_log_.bind_text(2, log);
    const int rc = find_log_.step();
    if (rc == SQLITE_DONE) return {};
    if (rc != SQLITE_ROW) return fail(sql_error("look for a log in"));
    slot.id = find_log_.column_key(0);
    Counters::add(setup_.counters.rows_read);
  }
  auto there = load_tail(slot, home, log);
  if (!there) return fail(std::move(there.error()));
  if (!*there) return fail(no_tail_block(home, log));
  return {};
}

Result<bool> Applier::load_tail(Slot& slot, std::string_view home, std::string_view log) {
  const Using use{find_tail_};
  find_tail_.bind_key(1, first_key(slot.id).value);
  find_tail_.bind_key(2, last_key(slot.id).value);
  const int rc = find_tail_.step();
  if (rc == SQLITE_DONE) return false;
  if (rc != SQLITE_ROW) return fail(sql_error("read a log of"));
  Counters::add(setup_.counters.rows_read);
  const core::BlockKey key{find_tail_.column_key(0)};
  const BytesView bytes = find_tail_.column_bytes(1);
  const auto header = core::open_block(key, bytes);
  if (!header) return fail(block_error(home, log, key, header.error()));
  if (header->sealed) {
    slot.tail = core::HotBlock{key, *header};
    return fail(block_error(home, log, key, {.what = "it is sealed, and the log's newest"}));
  }
  slot.tail = core::HotBlock{key, *header, bytes};
  slot.exists = true;
  return true;
}

Result<Applier::FoundRow> Applier::find_row(std::string_view space, std::string_view key) {
  const Using use{find_row_};
  find_row_.bind_text(1, space);
  find_row_.bind_blob(2, key);
  const int rc = find_row_.step();
  if (rc == SQLITE_DONE) return FoundRow{};
  if (rc != SQLITE_ROW) return fail(sql_error("read a row of"));
  Counters::add(setup_.counters.rows_read);
  return FoundRow{std::string{find_row_.column_bytes(0)}, find_row_.column_key(1)};
}

// --- Checking -----------------------------------------------------------------------------------

Result<void> Applier::check(const Batch& batch) {
  if (auto ok = core::check_batch(batch); !ok) return ok;
  if (auto ok = check_logs(batch); !ok) return ok;
  return check_rows(batch);
}

Result<void> Applier::check_logs(const Batch& batch) {
  create_slots_.clear();
  append_slots_.clear();
  trim_slots_.clear();
  for (const LogCreate& create : batch.creates) {
    const auto found = slot(batch.home, create.log);
    if (!found) return fail(found.error());
    if ((*found)->exists && !create.if_missing) {
      return fail(core::log_exists(batch.home, create.log));
    }
    create_slots_.push_back(*found);
  }
  // The log as the later lists meet it: there already, or made by this batch.
  const auto state_of = [&](const Slot* slot, const std::string& log) -> std::optional<LogState> {
    if (slot->exists) return slot->tail.state();
    const auto made = std::ranges::find(batch.creates, log, &LogCreate::log);
    if (made == batch.creates.end()) return std::nullopt;
    return LogState{.first = made->first, .tail = made->first};
  };
  for (const LogAppend& append : batch.appends) {
    const auto found = slot(batch.home, append.log);
    if (!found) return fail(found.error());
    const auto state = state_of(*found, append.log);
    if (auto ok = core::check_append(batch.home, append, state ? &*state : nullptr); !ok) return ok;
    append_slots_.push_back(*found);
  }
  for (const LogTrim& trim : batch.trims) {
    const auto found = slot(batch.home, trim.log);
    if (!found) return fail(found.error());
    if (!state_of(*found, trim.log)) return fail(core::no_such_log(batch.home, trim.log));
    trim_slots_.push_back(*found);
  }
  return {};
}

Result<void> Applier::check_rows(const Batch& batch) {
  put_rows_.clear();
  delete_rows_.clear();
  const auto check_list = [&](const auto& list, std::vector<FoundRow>& found) -> Result<void> {
    for (const auto& part : list) {
      auto row = find_row(part.space, part.key);
      if (!row) return fail(std::move(row.error()));
      if (auto ok = core::check_row(batch.home, part.space, part.key, part.expected_version,
                                    row->home, row->version);
          !ok) {
        return ok;
      }
      found.push_back(std::move(*row));
    }
    return {};
  };
  if (auto ok = check_list(batch.puts, put_rows_); !ok) return ok;
  return check_list(batch.deletes, delete_rows_);
}

}  // namespace holdfast::store
