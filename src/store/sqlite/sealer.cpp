#include "store/sqlite/sealer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include <holdfast/check.h>

#include "store/sqlite/block_errors.h"
#include "store/sqlite/writer_guard.h"

namespace holdfast::store {
namespace {

// A read of one record decompresses its whole segment; smaller ones compress worse.
constexpr std::size_t kSegmentBytes = 128u << 10;
constexpr std::size_t kSegmentsPerTransaction = 4;
constexpr std::size_t kLogsPerPage = 1'000;

std::uint64_t stored_checksum(BytesView block) {
  std::uint64_t checksum = 0;
  if (block.size() >= sizeof checksum) std::memcpy(&checksum, block.data(), sizeof checksum);
  return checksum;
}

Error broken(core::BlockKey key, const core::BlockFault& fault) {
  return block_error("store", fmt::format("#{}", key.log_id()), key, fault);
}

}  // namespace

Result<std::unique_ptr<LogSealer>> LogSealer::make(Connection connection, Writer& writer) {
  std::unique_ptr<LogSealer> sealer{new LogSealer{std::move(connection), writer}};
  const std::pair<Statement*, const char*> statements[] = {
      {&sealer->tail_, "SELECT max(key) FROM blocks WHERE key BETWEEN ?1 AND ?2"},
      {&sealer->backwards_,
       "SELECT key, data FROM blocks WHERE key BETWEEN ?1 AND ?2 ORDER BY key DESC"},
      {&sealer->forwards_, "SELECT key, data FROM blocks WHERE key BETWEEN ?1 AND ?2 ORDER BY key"},
      {&sealer->logs_, "SELECT id FROM logs WHERE id > ?1 ORDER BY id LIMIT ?2"},
  };
  for (const auto& [statement, sql] : statements) {
    auto prepared = Statement::prepare(sealer->connection_, sql);
    if (!prepared) return fail(std::move(prepared.error()));
    *statement = std::move(*prepared);
  }
  return sealer;
}

Result<std::vector<std::uint64_t>> LogSealer::logs_after(std::uint64_t id) {
  const Using use{logs_};
  logs_.bind_key(1, id);
  logs_.bind(2, kLogsPerPage);
  std::vector<std::uint64_t> ids;
  int rc = SQLITE_DONE;
  while ((rc = logs_.step()) == SQLITE_ROW) ids.push_back(logs_.column_key(0));
  if (rc != SQLITE_DONE) return fail(connection_.error("list the logs of"));
  return ids;
}

Result<void> LogSealer::seal(std::uint64_t log_id, Extent extent, SealReport& report,
                             const std::function<void(std::uint64_t)>& looked,
                             const std::function<bool()>& ended) {
  const auto start = find_start(log_id);
  if (!start) return fail(start.error());
  std::optional<core::BlockKey> from = *start;
  bool sealed = false;
  while (from && !ended()) {
    auto segments = gather(*from, extent, looked);
    if (!segments) return fail(std::move(segments.error()));
    if (segments->empty()) break;
    const auto written = write(*segments);
    if (!written) return fail(written.error());
    for (std::size_t i = 0; i < *written; ++i) {
      const Segment& segment = (*segments)[i];
      report.records += segment.header.count;
      report.bytes_before += segment.bytes_before;
      report.bytes_after += segment.block.size();
      sealed = true;
    }
    if (*written < segments->size()) break;  // trimmed or removed meanwhile
    from = core::BlockKey{segments->back().sources.back().key.value + 1};
  }
  if (sealed) ++report.logs;
  return {};
}

// Where the blocks that are not sealed begin: sealing goes from old to new, so they end a log. A
// last sealed block that is small is sealed again together with what follows.
Result<std::optional<core::BlockKey>> LogSealer::find_start(std::uint64_t log_id) {
  const Using use{backwards_};
  backwards_.bind_key(1, first_key(log_id).value);
  backwards_.bind_key(2, last_key(log_id).value);
  std::optional<core::BlockKey> start;
  int rc = backwards_.step();  // the tail block stays as it is
  while (rc == SQLITE_ROW && (rc = backwards_.step()) == SQLITE_ROW) {
    const core::BlockKey key{backwards_.column_key(0)};
    const auto header = core::open_block(key, backwards_.column_bytes(1));
    if (!header) return fail(broken(key, header.error()));
    if (!header->sealed) {
      start = key;
      continue;
    }
    if (start && header->raw_bytes < kSegmentBytes / 2) start = key;
    break;
  }
  if (rc != SQLITE_ROW && rc != SQLITE_DONE) return fail(connection_.error("seal a log of"));
  return start;
}

Result<std::vector<LogSealer::Segment>> LogSealer::gather(
    core::BlockKey from, Extent extent, const std::function<void(std::uint64_t)>& looked) {
  std::vector<Segment> segments;
  const Using use_tail{tail_};
  const Using use{forwards_};
  tail_.bind_key(1, first_key(from.log_id()).value);
  tail_.bind_key(2, last_key(from.log_id()).value);
  if (tail_.step() != SQLITE_ROW) return fail(connection_.error("seal a log of"));
  const std::uint64_t tail = tail_.column_key(0);
  if (tail <= from.value) return segments;
  forwards_.bind_key(1, from.value);
  forwards_.bind_key(2, tail - 1);
  Segment segment;
  int rc = SQLITE_DONE;
  while (segments.size() < kSegmentsPerTransaction && (rc = forwards_.step()) == SQLITE_ROW) {
    looked(1);
    const core::BlockKey key{forwards_.column_key(0)};
    if (auto ok = add_block(segment, key, forwards_.column_bytes(1)); !ok) return fail(ok.error());
    if (lengths_.size() + payloads_.size() < kSegmentBytes) continue;
    if (auto ok = close_segment(segment); !ok) return fail(ok.error());
    segments.push_back(std::exchange(segment, {}));
  }
  if (rc != SQLITE_ROW && rc != SQLITE_DONE) return fail(connection_.error("seal a log of"));
  if (!segment.sources.empty() && extent == Extent::kEverything) {
    if (auto ok = close_segment(segment); !ok) return fail(ok.error());
    segments.push_back(std::move(segment));
  }
  lengths_.clear();
  payloads_.clear();
  return segments;
}

Result<void> LogSealer::add_block(Segment& segment, core::BlockKey key, BytesView block) {
  const auto header = core::open_block(key, block);
  if (!header) return fail(broken(key, header.error()));
  BytesView body = block.substr(core::kBlockHeaderBytes);
  if (header->sealed) {
    scratch_.resize(header->raw_bytes);
    if (!decompressor_.decompress(body, scratch_.data(), scratch_.size())) {
      return fail(broken(key, {.what = "it does not decompress"}));
    }
    body = scratch_;
  }
  records_.clear();
  core::ReadBudget all{.records = header->count, .bytes = header->payload_bytes};
  if (auto ok = core::decode_records(key, *header, body, key.first(), all, records_); !ok) {
    return fail(broken(key, ok.error()));
  }
  if (segment.sources.empty()) {
    segment.header = *header;
  } else {
    const Offset expected = segment.sources.front().key.first() + segment.header.count;
    if (key.first() != expected) {
      return fail(broken(key, {.what = "the records before it are missing"}));
    }
    segment.header.count += header->count;
    segment.header.payload_bytes += header->payload_bytes;
    segment.header.time = header->time;
    segment.header.epoch = header->epoch;
  }
  segment.sources.push_back({key, stored_checksum(block)});
  segment.bytes_before += block.size();
  core::add_sealed(records_, lengths_, payloads_);
  return {};
}

Result<void> LogSealer::close_segment(Segment& segment) {
  std::string raw = std::move(lengths_);
  raw.append(payloads_);
  lengths_.clear();
  payloads_.clear();
  const std::string compressed = compressor_.compress(raw);
  scratch_.resize(raw.size());
  HOLDFAST_CHECK(
      decompressor_.decompress(compressed, scratch_.data(), scratch_.size()) && scratch_ == raw,
      "compressed bytes came back changed");
  segment.header.closed = false;
  segment.header.raw_bytes = static_cast<std::uint32_t>(raw.size());
  segment.block = core::sealed_block(segment.sources.front().key, segment.header, compressed);
  return {};
}

// How many of the segments took their places: all, or those before the first whose sources have
// changed.
Result<std::size_t> LogSealer::write(const std::vector<Segment>& segments) {
  std::size_t written = 0;
  auto done = writer_.alone([&](Connection& connection) -> Result<void> {
    if (auto ok = connection.execute("BEGIN IMMEDIATE"); !ok) return ok;
    for (const Segment& segment : segments) {
      const auto replaced = replace(connection, segment);
      if (!replaced) {
        Error error = replaced.error();
        connection.rollback();
        return fail(std::move(error));
      }
      if (!*replaced) break;
      ++written;
    }
    if (auto ok = connection.execute("COMMIT"); !ok) {
      connection.rollback();
      return ok;
    }
    return {};
  });
  if (!done) return fail(std::move(done.error()));
  return written;
}

Result<bool> LogSealer::replace(Connection& connection, const Segment& segment) {
  auto sources =
      Statement::prepare(connection, "SELECT key, data FROM blocks WHERE key BETWEEN ?1 AND ?2");
  if (!sources) return fail(std::move(sources.error()));
  const std::uint64_t first = segment.sources.front().key.value;
  const std::uint64_t last = segment.sources.back().key.value;
  sources->bind_key(1, first);
  sources->bind_key(2, last);
  for (const Source& source : segment.sources) {
    const int rc = sources->step();
    if (rc == SQLITE_DONE) return false;
    if (rc != SQLITE_ROW) return fail(connection.error("seal a log of"));
    if (sources->column_key(0) != source.key.value ||
        stored_checksum(sources->column_bytes(1)) != source.checksum) {
      return false;
    }
  }
  sources->reset();
  auto erase = Statement::prepare(connection, "DELETE FROM blocks WHERE key > ?1 AND key <= ?2");
  if (!erase) return fail(std::move(erase.error()));
  erase->bind_key(1, first);
  erase->bind_key(2, last);
  if (!erase->run()) return fail(connection.error("seal a log of"));
  auto put = Statement::prepare(connection, "UPDATE blocks SET data=?2 WHERE key=?1");
  if (!put) return fail(std::move(put.error()));
  put->bind_key(1, first);
  put->bind_blob(2, segment.block);
  if (!put->run()) return fail(connection.error("seal a log of"));
  return true;
}

// --- The thread ---------------------------------------------------------------------------------

void BackgroundSealer::want(std::uint64_t log_id) {
  {
    const std::lock_guard lock{mutex_};
    if (ending_) return;
    wanted_.insert(log_id);
    if (!thread_.joinable()) {
      auto thread = start_quiet_thread("hf-seal", [this] { run(); });
      if (thread) thread_ = std::move(*thread);
    }
  }
  wakes_.notify_one();
}

void BackgroundSealer::stop() {
  {
    const std::lock_guard lock{mutex_};
    ending_ = true;
  }
  wakes_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void BackgroundSealer::run() {
  auto sealer = make_();
  const auto ended = [&] {
    const std::lock_guard lock{mutex_};
    return ending_;
  };
  std::unique_lock lock{mutex_};
  for (;;) {
    wakes_.wait(lock, [&] { return !wanted_.empty() || ending_; });
    if (ending_) return;
    const std::uint64_t id = *wanted_.begin();
    wanted_.erase(wanted_.begin());
    lock.unlock();
    if (!sealer) sealer = make_();
    if (sealer) {
      // What fails here (a full disk, a damaged block) is met, and told, by whoever reads or
      // checks.
      SealReport report;
      (void)(*sealer)->seal(
          id, LogSealer::Extent::kWholeSegments, report, [](std::uint64_t) {}, ended);
    }
    lock.lock();
  }
}

}  // namespace holdfast::store
