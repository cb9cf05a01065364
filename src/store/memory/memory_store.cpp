#include "store/memory/memory_store.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <set>
#include <tuple>

#include "core/log/batch_check.h"

namespace holdfast::store {
namespace {

// Topics of the hub. No name holds a NUL, so the parts cannot run into each other.
std::string log_topic(const std::string& home, const std::string& log) {
  std::string topic = "log";
  return topic.append(1, '\0').append(home).append(1, '\0').append(log);
}

std::string space_topic(std::string_view space) {
  std::string topic = "space";
  return topic.append(1, '\0').append(space);
}

}  // namespace

// --- Writing ------------------------------------------------------------------------------------

Result<Committed> MemoryStore::commit(const Batch& batch) {
  Committed committed;
  {
    const std::lock_guard lock{mutex_};
    if (auto ok = check(batch); !ok) return fail(std::move(ok.error()));
    committed = apply(batch);
  }
  announce(batch);
  return committed;
}

void MemoryStore::commit_async(Batch batch, CommitCallback done) { done(commit(batch)); }

Result<void> MemoryStore::check(const Batch& batch) const {
  if (auto ok = core::check_batch(batch); !ok) return ok;
  if (auto ok = check_logs(batch); !ok) return ok;
  return check_row_parts(batch);
}

Result<void> MemoryStore::check_logs(const Batch& batch) const {
  // The logs of this home as the batch's later parts meet them: those there, and those it creates.
  std::map<std::string, LogState> born;
  for (const LogCreate& create : batch.creates) {
    const bool there = logs_.contains({batch.home, create.log});
    if (there && !create.if_missing) {
      return fail(core::log_exists(batch.home, create.log));
    }
    if (!there) born.emplace(create.log, LogState{.first = create.first, .tail = create.first});
  }
  const auto state_of = [&](const std::string& log) -> std::optional<LogState> {
    if (const auto it = logs_.find({batch.home, log}); it != logs_.end()) return it->second.state();
    if (const auto it = born.find(log); it != born.end()) return it->second;
    return std::nullopt;
  };
  for (const LogAppend& append : batch.appends) {
    const auto state = state_of(append.log);
    if (auto ok = core::check_append(batch.home, append, state ? &*state : nullptr); !ok) return ok;
  }
  for (const LogTrim& trim : batch.trims) {
    if (!state_of(trim.log)) return fail(core::no_such_log(batch.home, trim.log));
  }
  return {};
}

Result<void> MemoryStore::check_row_parts(const Batch& batch) const {
  const auto check_one = [&](const auto& part) {
    const auto it = rows_.find({part.space, part.key});
    const bool there = it != rows_.end();
    return core::check_row(batch.home, part.space, part.key, part.expected_version,
                           there ? std::string_view{it->second.home} : std::string_view{},
                           there ? it->second.version : 0);
  };
  for (const RowPut& put : batch.puts) {
    if (auto ok = check_one(put); !ok) return ok;
  }
  for (const RowDelete& deleted : batch.deletes) {
    if (auto ok = check_one(deleted); !ok) return ok;
  }
  return {};
}

Committed MemoryStore::apply(const Batch& batch) {
  Committed committed;
  for (const LogCreate& create : batch.creates) {
    const auto [it, made] = logs_.try_emplace({batch.home, create.log}, Log{.first = create.first});
    if (made) ++stats_.rows_written;
  }
  for (const LogAppend& append : batch.appends) {
    committed.appends.push_back(apply_append(batch.home, append));
  }
  for (const LogTrim& trim : batch.trims) {
    Log& log = logs_.find({batch.home, trim.log})->second;
    const Offset before = std::clamp(trim.before, log.first, log.tail());
    const auto count = static_cast<std::ptrdiff_t>(before - log.first);
    log.records.erase(log.records.begin(), log.records.begin() + count);
    log.first = before;
    stats_.rows_written += static_cast<std::uint64_t>(count);
  }
  for (const LogRemove& remove : batch.removes) {
    stats_.rows_written += logs_.erase({batch.home, remove.log});
  }
  for (const RowPut& put : batch.puts) {
    ++last_version_;
    rows_.insert_or_assign({put.space, put.key}, StoredRow{batch.home, put.value, last_version_});
    committed.row_versions.push_back(last_version_);
    ++stats_.rows_written;
    stats_.bytes_written += put.value.size();
  }
  for (const RowDelete& deleted : batch.deletes) {
    stats_.rows_written += rows_.erase({deleted.space, deleted.key});
  }
  ++stats_.commits;
  ++stats_.transactions;
  return committed;
}

AppendedRange MemoryStore::apply_append(const std::string& home, const LogAppend& append) {
  Log& log = logs_.find({home, append.log})->second;
  const AppendedRange range{log.tail(), log.tail() + append.records.size()};
  if (log.closed) return range;  // closed again, without records: nothing changes
  const Timestamp now = clock_.now();
  for (const BytesView record : append.records) {
    log.records.push_back({Bytes{record}, now});
    log.bytes += record.size();
    stats_.bytes_written += record.size();
  }
  if (append.epoch) log.epoch = *append.epoch;
  log.closed = append.close;
  stats_.records_written += append.records.size();
  stats_.rows_written += append.records.size();
  return range;
}

void MemoryStore::announce(const Batch& batch) {
  std::set<std::string> topics;
  const auto touch_logs = [&](const auto& list) {
    for (const auto& part : list) topics.insert(log_topic(batch.home, part.log));
  };
  touch_logs(batch.creates);
  touch_logs(batch.appends);
  touch_logs(batch.trims);
  touch_logs(batch.removes);
  for (const RowPut& put : batch.puts) topics.insert(space_topic(put.space));
  for (const RowDelete& deleted : batch.deletes) topics.insert(space_topic(deleted.space));
  hub_.announce({topics.begin(), topics.end()});
}

// --- Reading ------------------------------------------------------------------------------------

Result<const MemoryStore::Log*> MemoryStore::find(const LogKey& log) const {
  const auto it = logs_.find(log);
  if (it == logs_.end()) return fail(core::no_such_log(log.home, log.log));
  return &it->second;
}

Result<Records> MemoryStore::read(const LogKey& log, Offset from, const ReadLimits& limits) {
  const std::lock_guard lock{mutex_};
  ++stats_.reads;
  const auto found = find(log);
  if (!found) return fail(found.error());
  const Log& there = **found;
  const LogState state = there.state();
  if (auto ok = core::check_read(log, from, state); !ok) return fail(std::move(ok.error()));

  Records records;
  std::size_t bytes = 0;
  std::size_t count = 0;
  const auto begin = there.records.begin() + static_cast<std::ptrdiff_t>(from - there.first);
  for (auto at = begin; at != there.records.end(); ++at, ++count) {
    const bool fits = count < limits.records_max && bytes + at->bytes.size() <= limits.bytes_max;
    if (count > 0 && !fits) break;
    bytes += at->bytes.size();
  }
  records.arena.push_back(std::make_unique<char[]>(bytes));
  char* to = records.arena.front().get();
  for (std::size_t i = 0; i < count; ++i) {
    const Bytes& payload = begin[static_cast<std::ptrdiff_t>(i)].bytes;
    if (!payload.empty()) std::memcpy(to, payload.data(), payload.size());
    records.items.push_back({from + i, BytesView{to, payload.size()}});
    to += payload.size();
  }
  records.next = from + count;
  records.at_tail = records.next == state.tail;
  records.closed = records.at_tail && state.closed;
  stats_.rows_read += count;
  stats_.records_read += count;
  stats_.bytes_read += bytes;
  return records;
}

Result<LogState> MemoryStore::tail(const LogKey& log) {
  const std::lock_guard lock{mutex_};
  const auto found = find(log);
  if (!found) return fail(found.error());
  ++stats_.rows_read;
  return (*found)->state();
}

Result<std::optional<Row>> MemoryStore::get(std::string_view space, std::string_view key) {
  const std::lock_guard lock{mutex_};
  const auto it = rows_.find({std::string{space}, std::string{key}});
  if (it == rows_.end()) return std::optional<Row>{};
  ++stats_.rows_read;
  return Row{it->first.second, it->second.value, it->second.version};
}

Result<std::vector<Row>> MemoryStore::scan(std::string_view space, const KeyRange& range,
                                           std::size_t limit) {
  const std::lock_guard lock{mutex_};
  std::vector<Row> out;
  const std::string in{space};
  const auto inside = [&](const RowKey& key) {
    return key.first == in && key.second >= range.from &&
           (range.to.empty() || key.second < range.to);
  };
  const auto take = [&](const auto& item) {
    out.push_back({item.first.second, item.second.value, item.second.version});
  };
  if (range.descending) {
    // Names hold no NUL: this is the first key of whatever space comes next.
    auto at =
        range.to.empty() ? rows_.lower_bound({in + '\0', {}}) : rows_.lower_bound({in, range.to});
    while (out.size() < limit && at != rows_.begin() && inside(std::prev(at)->first)) take(*--at);
  } else {
    auto at = rows_.lower_bound({in, range.from});
    for (; out.size() < limit && at != rows_.end() && inside(at->first); ++at) take(*at);
  }
  stats_.rows_read += out.size();
  return out;
}

Result<Offset> MemoryStore::locate_time(const LogKey& log, Timestamp cutoff) {
  const std::lock_guard lock{mutex_};
  const auto found = find(log);
  if (!found) return fail(found.error());
  const auto& records = (*found)->records;
  const auto young = std::ranges::find_if(
      records, [&](const StoredRecord& record) { return record.time >= cutoff; });
  const auto older = static_cast<std::uint64_t>(std::distance(records.begin(), young));
  stats_.rows_read += older;
  return (*found)->first + older;
}

Result<Offset> MemoryStore::locate_bytes(const LogKey& log, std::uint64_t bytes) {
  const std::lock_guard lock{mutex_};
  const auto found = find(log);
  if (!found) return fail(found.error());
  const auto& records = (*found)->records;
  std::uint64_t kept = 0;
  for (const StoredRecord& record : records) kept += record.bytes.size();
  std::uint64_t dropped = 0;
  while (dropped < records.size() && kept - records[dropped].bytes.size() >= bytes) {
    kept -= records[dropped].bytes.size();
    ++dropped;
  }
  stats_.rows_read += dropped;
  return (*found)->first + dropped;
}

Result<std::vector<LogKey>> MemoryStore::logs(const LogKey& after, std::size_t limit) {
  const std::lock_guard lock{mutex_};
  std::vector<LogKey> out;
  for (auto at = logs_.upper_bound(after); at != logs_.end() && out.size() < limit; ++at) {
    out.push_back(at->first);
  }
  stats_.rows_read += out.size();
  return out;
}

// --- Watching -----------------------------------------------------------------------------------

Result<Watch> MemoryStore::watch(const LogKey& log, WatchCallback changed) {
  return hub_.watch(log_topic(log.home, log.log), std::move(changed));
}

Result<Watch> MemoryStore::watch_space(std::string_view space, WatchCallback changed) {
  return hub_.watch(space_topic(space), std::move(changed));
}

StoreStats MemoryStore::stats() const {
  const std::lock_guard lock{mutex_};
  StoreStats stats = stats_;
  stats.wakes = hub_.wakes();
  stats.watcher_wakeups = hub_.wakeups();
  return stats;
}

}  // namespace holdfast::store

namespace holdfast {

std::unique_ptr<Store> make_memory_store(const Clock& clock) {
  return std::make_unique<store::MemoryStore>(clock);
}

}  // namespace holdfast
