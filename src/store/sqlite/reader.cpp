#include "store/sqlite/reader.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "core/log/batch_check.h"
#include "store/sqlite/block_errors.h"

namespace holdfast::store {
namespace {

constexpr std::size_t kPieceBytesMax = 1u << 20;

std::int64_t row_limit(std::size_t limit) {
  constexpr auto kMax = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());
  return static_cast<std::int64_t>(std::min(limit, kMax));
}

BytesView body_of(BytesView block) { return block.substr(core::kBlockHeaderBytes); }

}  // namespace

Result<std::unique_ptr<Reader>> Reader::make(Connection connection, LogIds& ids,
                                             Counters& counters) {
  std::unique_ptr<Reader> reader{new Reader{std::move(connection), ids, counters}};
  if (auto ok = reader->prepare(); !ok) return fail(std::move(ok.error()));
  return reader;
}

Result<void> Reader::prepare() {
  const std::pair<Statement*, const char*> statements[] = {
      {&find_log_, "SELECT id FROM logs WHERE home=?1 AND name=?2"},
      {&tail_,
       "SELECT key, data FROM blocks WHERE key BETWEEN ?1 AND ?2 ORDER BY key DESC LIMIT 1"},
      {&seek_,
       "SELECT key, data FROM blocks WHERE key BETWEEN ?1 AND ?2 ORDER BY key DESC LIMIT 1"},
      {&next_, "SELECT key, data FROM blocks WHERE key > ?1 AND key < ?2 ORDER BY key"},
      {&get_, "SELECT home, version, checksum, value FROM rows WHERE space=?1 AND key=?2"},
      {&logs_,
       "SELECT home, name FROM logs WHERE (home, name) > (?1, ?2) ORDER BY home, name LIMIT ?3"},
      {&scan_up_,
       "SELECT key, home, version, checksum, value FROM rows WHERE space=?1 AND key>=?2 AND "
       "key<?4 ORDER BY key LIMIT ?3"},
      {&scan_up_open_,
       "SELECT key, home, version, checksum, value FROM rows WHERE space=?1 AND key>=?2 ORDER BY "
       "key LIMIT ?3"},
      {&scan_down_,
       "SELECT key, home, version, checksum, value FROM rows WHERE space=?1 AND key>=?2 AND "
       "key<?4 ORDER BY key DESC LIMIT ?3"},
      {&scan_down_open_,
       "SELECT key, home, version, checksum, value FROM rows WHERE space=?1 AND key>=?2 ORDER BY "
       "key DESC LIMIT ?3"},
  };
  for (const auto& [statement, sql] : statements) {
    auto prepared = Statement::prepare(connection_, sql);
    if (!prepared) return fail(std::move(prepared.error()));
    *statement = std::move(*prepared);
  }
  return {};
}

// --- Finding blocks -----------------------------------------------------------------------------

Result<Reader::Block> Reader::column_block(const LogKey& log, Statement& statement) {
  Block block{.key = {statement.column_key(0)}, .bytes = statement.column_bytes(1)};
  Counters::add(counters_.rows_read);
  const auto header = core::open_block(block.key, block.bytes);
  if (!header) return fail(block_error(log.home, log.log, block.key, header.error()));
  block.header = *header;
  return block;
}

Result<std::optional<Reader::Block>> Reader::step_tail(const LogKey& log, std::uint64_t id) {
  tail_.bind_key(1, first_key(id).value);
  tail_.bind_key(2, last_key(id).value);
  const int rc = tail_.step();
  if (rc == SQLITE_DONE) {
    tail_.reset();
    return std::optional<Block>{};
  }
  if (rc != SQLITE_ROW) return fail(connection_.error("read a log of"));
  auto block = column_block(log, tail_);
  if (!block) return fail(std::move(block.error()));
  return std::optional{*block};
}

// Leaves tail_ open: whoever calls resets it when the snapshot is no longer needed.
Result<Reader::Block> Reader::find_tail(const LogKey& log) {
  const std::string path = log_path(log.home, log.log);
  if (const auto id = ids_.find(path)) {
    auto block = step_tail(log, *id);
    if (!block) return fail(std::move(block.error()));
    if (*block) return **block;
    ids_.forget(path);
  }
  const Using use{find_log_};  // open until the tail is found in the same snapshot
  find_log_.bind_text(1, log.home);
  find_log_.bind_text(2, log.log);
  const int rc = find_log_.step();
  if (rc == SQLITE_DONE) return fail(core::no_such_log(log.home, log.log));
  if (rc != SQLITE_ROW) return fail(connection_.error("look for a log in"));
  Counters::add(counters_.rows_read);
  const std::uint64_t id = find_log_.column_key(0);
  auto block = step_tail(log, id);
  if (!block) return fail(std::move(block.error()));
  if (!*block) return fail(no_tail_block(log.home, log.log));
  ids_.remember(path, id);
  return **block;
}

Result<void> Reader::walk(const LogKey& log, const Block& tail, Offset from,
                          const std::function<Result<bool>(const Block&)>& visit) {
  const auto gap = [&](Offset expected, core::BlockKey found) {
    return fail(block_error(
        log.home, log.log, found,
        {.what = fmt::format("the records before it, from {} on, are missing", expected.value)}));
  };
  if (from >= tail.key.first()) {
    auto more = visit(tail);
    return more ? Result<void>{} : fail(std::move(more.error()));
  }
  const std::uint64_t id = tail.key.log_id();
  const Using use_seek{seek_};
  seek_.bind_key(1, first_key(id).value);
  seek_.bind_key(2, core::BlockKey::make(id, from).value);
  int rc = seek_.step();
  if (rc != SQLITE_ROW && rc != SQLITE_DONE) return fail(connection_.error("read a log of"));
  if (rc == SQLITE_DONE) return gap(from, tail.key);
  auto block = column_block(log, seek_);
  if (!block) return fail(std::move(block.error()));
  if (block->next() <= from) return gap(from, tail.key);
  auto more = visit(*block);
  if (!more) return fail(std::move(more.error()));
  if (!*more) return {};

  Offset expected = block->next();
  const Using use_next{next_};
  next_.bind_key(1, block->key.value);
  next_.bind_key(2, tail.key.value);
  while ((rc = next_.step()) == SQLITE_ROW) {
    block = column_block(log, next_);
    if (!block) return fail(std::move(block.error()));
    if (block->key.first() != expected) return gap(expected, block->key);
    more = visit(*block);
    if (!more) return fail(std::move(more.error()));
    if (!*more) return {};
    expected = block->next();
  }
  if (rc != SQLITE_DONE) return fail(connection_.error("read a log of"));
  if (tail.key.first() != expected) return gap(expected, tail.key);
  more = visit(tail);
  return more ? Result<void>{} : fail(std::move(more.error()));
}

// --- Logs ---------------------------------------------------------------------------------------

Result<LogState> Reader::tail(const LogKey& log) {
  std::string path = log_path(log.home, log.log);
  const WalStamp before = WalStamp::of(connection_);
  if (before == tails_at_) {
    if (const auto at = tails_.find(path); at != tails_.end()) return at->second;
  } else {
    tails_.clear();
    tails_at_ = before;
  }
  LogState state;
  {
    const Using use{tail_};
    const auto tail = find_tail(log);
    if (!tail) return fail(tail.error());
    state = tail->state();
  }
  if (WalStamp::of(connection_) == before && tails_.size() < kTailsMax) {
    tails_.emplace(std::move(path), state);
  }
  return state;
}

Result<Records> Reader::read(const LogKey& log, Offset from, const ReadLimits& limits) {
  Counters::add(counters_.reads);
  const Using use{tail_};
  const auto tail = find_tail(log);
  if (!tail) return fail(tail.error());
  const LogState state = tail->state();
  if (auto ok = core::check_read(log, from, state); !ok) return fail(std::move(ok.error()));

  Taking taking{.budget = {.records = limits.records_max, .bytes = limits.bytes_max}};
  if (from < state.tail) {
    auto ok = walk(log, *tail, from, [&](const Block& block) -> Result<bool> {
      if (taking.piece_bytes == 0) {
        // Bodies are a little longer than the payloads in them.
        const std::uint64_t left = state.bytes - block.header.bytes_before;
        const std::uint64_t wanted = std::min<std::uint64_t>(left, limits.bytes_max);
        taking.piece_bytes = std::min<std::uint64_t>(wanted + wanted / 8 + 4'096, kPieceBytesMax);
        if (block.key != tail->key) {
          taking.records.items.reserve(
              std::min<std::uint64_t>({limits.records_max, state.tail - from, 65'536}));
        }
      }
      if (auto taken = take(log, block, from, taking); !taken) return fail(taken.error());
      return !taking.budget.spent;
    });
    if (!ok) return fail(std::move(ok.error()));
  }
  Records records = std::move(taking.records);
  records.next = from + records.items.size();
  records.at_tail = records.next == state.tail;
  records.closed = records.at_tail && state.closed;
  std::uint64_t bytes = 0;
  for (const Record& record : records.items) bytes += record.bytes.size();
  Counters::add(counters_.records_read, records.items.size());
  Counters::add(counters_.bytes_read, bytes);
  return records;
}

Result<void> Reader::take(const LogKey& log, const Block& block, Offset from, Taking& taking) {
  return block.header.sealed ? take_sealed(log, block, from, taking)
                             : take_hot(log, block, from, taking);
}

Result<void> Reader::take_hot(const LogKey& log, const Block& block, Offset from, Taking& taking) {
  const BytesView body = body_of(block.bytes);
  if (taking.space_bytes < body.size()) {
    const std::size_t piece = block.next() == from + 1 || taking.piece_bytes < body.size()
                                  ? body.size()
                                  : taking.piece_bytes;
    taking.records.arena.push_back(std::make_unique_for_overwrite<char[]>(piece));
    taking.space = taking.records.arena.back().get();
    taking.space_bytes = piece;
  }
  std::memcpy(taking.space, body.data(), body.size());
  const BytesView copy{taking.space, body.size()};
  taking.space += body.size();
  taking.space_bytes -= body.size();
  const auto decoded = core::decode_records(block.key, block.header, copy, from, taking.budget,
                                            taking.records.items);
  if (!decoded) return fail(block_error(log.home, log.log, block.key, decoded.error()));
  return {};
}

Result<void> Reader::take_sealed(const LogKey& log, const Block& block, Offset from,
                                 Taking& taking) {
  auto& items = taking.records.items;
  const core::ReadBudget& budget = taking.budget;
  const bool whole = from <= block.key.first() && budget.records >= block.header.count &&
                     budget.bytes >= block.header.payload_bytes;
  if (whole) {
    const std::size_t size = block.header.raw_bytes;
    auto piece = std::make_unique_for_overwrite<char[]>(size);
    if (!decompressor_.decompress(body_of(block.bytes), piece.get(), size)) {
      return fail(block_error(log.home, log.log, block.key, {.what = "it does not decompress"}));
    }
    const auto decoded = core::decode_records(block.key, block.header, {piece.get(), size}, from,
                                              taking.budget, items);
    if (!decoded) return fail(block_error(log.home, log.log, block.key, decoded.error()));
    taking.records.arena.push_back(std::move(piece));
    return {};
  }
  const auto raw = unsealed(log, block);
  if (!raw) return fail(raw.error());
  const std::size_t before = items.size();
  const auto decoded =
      core::decode_records(block.key, block.header, *raw, from, taking.budget, items);
  if (!decoded) return fail(block_error(log.home, log.log, block.key, decoded.error()));
  if (items.size() == before) return {};
  // What was taken lies in one piece: it moves together.
  const char* begin = items[before].bytes.data();
  const auto size =
      static_cast<std::size_t>(items.back().bytes.data() + items.back().bytes.size() - begin);
  auto piece = std::make_unique_for_overwrite<char[]>(size);
  std::memcpy(piece.get(), begin, size);
  for (std::size_t i = before; i < items.size(); ++i) {
    items[i].bytes = {piece.get() + (items[i].bytes.data() - begin), items[i].bytes.size()};
  }
  taking.records.arena.push_back(std::move(piece));
  return {};
}

Result<BytesView> Reader::unsealed(const LogKey& log, const Block& block) {
  std::uint64_t checksum = 0;
  std::memcpy(&checksum, block.bytes.data(), sizeof checksum);
  if (unsealed_key_ == block.key && unsealed_checksum_ == checksum) return BytesView{unsealed_};
  unsealed_key_ = {};
  unsealed_.resize(block.header.raw_bytes);
  if (!decompressor_.decompress(body_of(block.bytes), unsealed_.data(), unsealed_.size())) {
    return fail(block_error(log.home, log.log, block.key, {.what = "it does not decompress"}));
  }
  unsealed_key_ = block.key;
  unsealed_checksum_ = checksum;
  return BytesView{unsealed_};
}

Result<Offset> Reader::locate_time(const LogKey& log, Timestamp cutoff) {
  const Using use{tail_};
  const auto tail = find_tail(log);
  if (!tail) return fail(tail.error());
  const LogState state = tail->state();
  Offset found = state.tail;
  if (state.first == state.tail) return found;
  auto ok = walk(log, *tail, state.first, [&](const Block& block) -> Result<bool> {
    if (block.header.time < cutoff || block.header.count == 0) return true;
    found = std::max(state.first, block.key.first());
    return false;
  });
  if (!ok) return fail(std::move(ok.error()));
  return found;
}

Result<Offset> Reader::locate_bytes(const LogKey& log, std::uint64_t bytes) {
  const Using use{tail_};
  const auto tail = find_tail(log);
  if (!tail) return fail(tail.error());
  const LogState state = tail->state();
  Offset found = state.tail;
  if (state.first == state.tail) return found;
  auto ok = walk(log, *tail, state.first, [&](const Block& block) -> Result<bool> {
    const std::uint64_t after =
        state.bytes - block.header.bytes_before - block.header.payload_bytes;
    if (after >= bytes) return true;
    // The cut is in this block: find it record by record.
    auto raw = block.header.sealed ? unsealed(log, block) : Result<BytesView>{body_of(block.bytes)};
    if (!raw) return fail(raw.error());
    std::vector<Record> records;
    core::ReadBudget all{.records = block.header.count, .bytes = block.header.payload_bytes};
    const auto decoded =
        core::decode_records(block.key, block.header, *raw, block.key.first(), all, records);
    if (!decoded) return fail(block_error(log.home, log.log, block.key, decoded.error()));
    std::uint64_t kept = after + block.header.payload_bytes;
    found = block.key.first();
    for (const Record& record : records) {
      if (kept - record.bytes.size() < bytes) break;
      kept -= record.bytes.size();
      found = found + 1;
    }
    found = std::max(found, state.first);
    return false;
  });
  if (!ok) return fail(std::move(ok.error()));
  return found;
}

Result<std::vector<LogKey>> Reader::logs(const LogKey& after, std::size_t limit) {
  const Using use{logs_};
  logs_.bind_text(1, after.home);
  logs_.bind_text(2, after.log);
  logs_.bind(3, row_limit(limit));
  std::vector<LogKey> out;
  int rc = SQLITE_DONE;
  while ((rc = logs_.step()) == SQLITE_ROW) {
    out.push_back({std::string{logs_.column_bytes(0)}, std::string{logs_.column_bytes(1)}});
  }
  if (rc != SQLITE_DONE) return fail(connection_.error("list the logs of"));
  Counters::add(counters_.rows_read, out.size());
  return out;
}

// --- Rows ---------------------------------------------------------------------------------------

Result<Row> Reader::column_row(std::string_view space, std::string_view key, Statement& statement,
                               int first_column) {
  const BytesView home = statement.column_bytes(first_column);
  const std::uint64_t version = statement.column_key(first_column + 1);
  const std::uint64_t checksum = statement.column_key(first_column + 2);
  const BytesView value = statement.column_bytes(first_column + 3);
  Counters::add(counters_.rows_read);
  if (checksum != row_checksum(space, key, home, version, value)) {
    return fail(row_error(space, key));
  }
  return Row{std::string{key}, Bytes{value}, version};
}

Result<std::optional<Row>> Reader::get(std::string_view space, std::string_view key) {
  const Using use{get_};
  get_.bind_text(1, space);
  get_.bind_blob(2, key);
  const int rc = get_.step();
  if (rc == SQLITE_DONE) return std::optional<Row>{};
  if (rc != SQLITE_ROW) return fail(connection_.error("read a row of"));
  auto row = column_row(space, key, get_, 0);
  if (!row) return fail(std::move(row.error()));
  return std::optional{std::move(*row)};
}

Result<std::vector<Row>> Reader::scan(std::string_view space, const KeyRange& range,
                                      std::size_t limit) {
  const bool open = range.to.empty();
  Statement& statement =
      range.descending ? (open ? scan_down_open_ : scan_down_) : (open ? scan_up_open_ : scan_up_);
  const Using use{statement};
  statement.bind_text(1, space);
  statement.bind_blob(2, range.from);
  statement.bind(3, row_limit(limit));
  if (!open) statement.bind_blob(4, range.to);
  std::vector<Row> out;
  int rc = SQLITE_DONE;
  while ((rc = statement.step()) == SQLITE_ROW) {
    auto row = column_row(space, statement.column_bytes(0), statement, 1);
    if (!row) return fail(std::move(row.error()));
    out.push_back(std::move(*row));
  }
  if (rc != SQLITE_DONE) return fail(connection_.error("scan the rows of"));
  return out;
}

// --- The pool -----------------------------------------------------------------------------------

Result<ReaderPool::Loan> ReaderPool::lend() {
  {
    std::unique_lock lock{mutex_};
    returned_.wait(lock, [&] { return !idle_.empty() || lent_ < kReadersMax; });
    ++lent_;
    if (!idle_.empty()) {
      auto reader = std::move(idle_.back());
      idle_.pop_back();
      return Loan{*this, std::move(reader)};
    }
  }
  auto reader = open_();
  if (reader) return Loan{*this, std::move(*reader)};
  {
    const std::lock_guard lock{mutex_};
    --lent_;
  }
  returned_.notify_one();
  return fail(std::move(reader.error()));
}

void ReaderPool::give_back(std::unique_ptr<Reader> reader) {
  {
    const std::lock_guard lock{mutex_};
    --lent_;
    idle_.push_back(std::move(reader));
  }
  returned_.notify_one();
}

}  // namespace holdfast::store
