#include "sim/lossy_store.h"

#include <utility>

namespace holdfast::sim {
namespace {

Result<Committed> lost_answer() {
  return fail(ErrorCode::kUnavailable, "the answer was lost: look before you try again");
}

}  // namespace

LossyStore::Fate LossyStore::draw() {
  const std::lock_guard lock{mutex_};
  if (!random_.one_in(one_in_)) return Fate::kAnswered;
  if (random_.one_in(2)) {
    ++lost_before_;
    return Fate::kLostBefore;
  }
  ++lost_after_;
  return Fate::kLostAfter;
}

std::uint64_t LossyStore::lost() const {
  const std::lock_guard lock{mutex_};
  return lost_before_ + lost_after_;
}

std::uint64_t LossyStore::lost_after() const {
  const std::lock_guard lock{mutex_};
  return lost_after_;
}

Result<Committed> LossyStore::commit(const Batch& batch) {
  const Fate fate = draw();
  if (fate == Fate::kLostBefore) return lost_answer();
  auto committed = inner_.commit(batch);
  // A refusal changed nothing, so it can as well be told.
  return committed && fate == Fate::kLostAfter ? lost_answer() : std::move(committed);
}

void LossyStore::commit_async(Batch batch, CommitCallback done) {
  const Fate fate = draw();
  if (fate == Fate::kLostBefore) return done(lost_answer());
  if (fate == Fate::kAnswered) return inner_.commit_async(std::move(batch), std::move(done));
  inner_.commit_async(std::move(batch), [done = std::move(done)](Result<Committed> committed) {
    done(committed ? lost_answer() : std::move(committed));
  });
}

Result<Records> LossyStore::read(const LogKey& log, Offset from, const ReadLimits& limits) {
  return inner_.read(log, from, limits);
}
Result<LogState> LossyStore::tail(const LogKey& log) { return inner_.tail(log); }
Result<std::optional<Row>> LossyStore::get(std::string_view space, std::string_view key) {
  return inner_.get(space, key);
}
Result<std::vector<Row>> LossyStore::scan(std::string_view space, const KeyRange& range,
                                          std::size_t limit) {
  return inner_.scan(space, range, limit);
}
Result<Watch> LossyStore::watch(const LogKey& log, WatchCallback changed) {
  return inner_.watch(log, std::move(changed));
}
Result<Watch> LossyStore::watch_space(std::string_view space, WatchCallback changed) {
  return inner_.watch_space(space, std::move(changed));
}
Result<Offset> LossyStore::locate_time(const LogKey& log, Timestamp cutoff) {
  return inner_.locate_time(log, cutoff);
}
Result<Offset> LossyStore::locate_bytes(const LogKey& log, std::uint64_t bytes) {
  return inner_.locate_bytes(log, bytes);
}
Result<std::vector<LogKey>> LossyStore::logs(const LogKey& after, std::size_t limit) {
  return inner_.logs(after, limit);
}
StoreStats LossyStore::stats() const { return inner_.stats(); }

}  // namespace holdfast::sim
