#include "store/sqlite/writer.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "store/sqlite/writer_guard.h"

namespace holdfast::store {
namespace {

constexpr std::size_t kGroupBatchesMax = 1'024;
constexpr std::size_t kGroupBytesMax = 64u << 20;
constexpr std::size_t kQueueMax = 65'536;
// How long another process may hold the store before a commit is refused, and how long to wait at
// most for a turn that may never be rung in (its holder was killed).
constexpr std::chrono::seconds kBusyMax{20};
constexpr std::chrono::milliseconds kBusyLook{20};
// Transactions this close together are a burst, in which the snapshot is kept, but not for longer
// than the second time.
constexpr std::chrono::milliseconds kBurstGap{1};
constexpr std::chrono::milliseconds kSnapshotMax{20};

std::size_t payload_bytes(const Batch& batch) {
  std::size_t bytes = 0;
  for (const LogAppend& append : batch.appends) {
    for (const BytesView record : append.records) bytes += record.size();
  }
  for (const RowPut& put : batch.puts) bytes += put.value.size();
  return bytes;
}

}  // namespace

Result<std::unique_ptr<Writer>> Writer::make(Setup setup) {
  std::unique_ptr<Writer> writer{new Writer{std::move(setup)}};
  auto applier = Applier::make({.connection = writer->setup_.connection,
                                .ids = writer->setup_.ids,
                                .clock = writer->setup_.clock,
                                .counters = writer->setup_.counters,
                                .growth_bytes = writer->setup_.growth_bytes,
                                .grown = writer->setup_.grown});
  if (!applier) return fail(std::move(applier.error()));
  writer->applier_ = std::move(*applier);
  sqlite3_busy_handler(writer->setup_.connection.get(), &Writer::on_busy, writer.get());
  return writer;
}

void Writer::end() {
  {
    const std::lock_guard lock{mutex_};
    ending_ = true;
  }
  committer_wakes_.notify_one();
  settler_wakes_.notify_one();
  if (committer_.joinable()) committer_.join();
  if (settler_.joinable()) settler_.join();
}

// --- Callers ------------------------------------------------------------------------------------

Result<Committed> Writer::commit(const Batch& batch) {
  Waiter self{.batch = &batch};
  std::unique_lock lock{mutex_};
  take_turn(lock, self);
  if (self.state.load() == kLeads) {
    wait_for_company(lock);
    while (self.state.load() != kDone) lead(lock, &self);
    pass_turn();
  }
  return std::move(*self.result);
}

void Writer::commit_async(Batch batch, CommitCallback done) {
  {
    const std::lock_guard lock{mutex_};
    if (queue_.size() < kQueueMax) {
      auto self = std::make_unique<Waiter>();
      self->owned = std::make_unique<Batch>(std::move(batch));
      self->batch = self->owned.get();
      self->done = std::move(done);
      queue_.push_back(self.release());
      if (!committer_.joinable()) committer_ = std::thread{[this] { run_committer(); }};
      if (std::exchange(led_, true)) return;
      committer_leads_ = true;
      committer_wakes_.notify_one();
      return;
    }
  }
  done(fail(ErrorCode::kUnavailable,
            fmt::format("{} commits are waiting already: slow down and try again", kQueueMax)));
}

Result<void> Writer::alone(const std::function<Result<void>(Connection&)>& work) {
  Waiter self;
  std::unique_lock lock{mutex_};
  take_turn(lock, self);
  if (queue_.front() == &self) {
    queue_.pop_front();
  } else {
    std::erase(queue_, &self);
  }
  lock.unlock();
  applier_->leave_snapshot();
  expect_turn();
  if (setup_.before && !stopped()) setup_.before();
  gives_up_at_ = {};
  Result<void> result = fail(stopped_error());
  if (!stopped()) {
    result = work(setup_.connection);
    if (!result && result.error().code == ErrorCode::kStopped) stop();
    setup_.bell.writer_done();
  }
  lock.lock();
  pass_turn();
  return result;
}

// --- The turn -----------------------------------------------------------------------------------

// Queues the call; returns with the lock when it leads, without it when it is done.
void Writer::take_turn(std::unique_lock<std::mutex>& lock, Waiter& self) {
  queue_.push_back(&self);
  if (!std::exchange(led_, true)) {
    self.state.store(kLeads);
    return;
  }
  lock.unlock();
  while (self.state.load() == kQueued) futex_wait(self.state, kQueued, std::nullopt, false);
  if (self.state.load() == kLeads) lock.lock();
}

// Once told that it is done a waiter may be gone at any moment; the wake needs its address alone.
void Writer::tell(Waiter& waiter, std::uint32_t state) {
  const FutexWord& word = waiter.state;
  waiter.state.store(state);
  futex_wake(word, 1, false);
}

// Whoever waits longest on a thread of its own leads next; the committer leads for those that do
// not wait.
void Writer::pass_turn() {
  const auto next = std::ranges::find_if(queue_, [](const Waiter* one) { return !one->done; });
  if (next != queue_.end()) {
    tell(**next, kLeads);
  } else if (!queue_.empty()) {
    committer_leads_ = true;
    committer_wakes_.notify_one();
  } else {
    led_ = false;
  }
}

// After a shared transaction those who shared it are on their way back: give them the processor
// once before going on, so that they share the next one, too. Nobody waits who was alone.
void Writer::wait_for_company(std::unique_lock<std::mutex>& lock) {
  constexpr int kYieldsMax = 8;
  for (int i = 0; i < kYieldsMax && queue_.size() < last_group_; ++i) {
    const std::size_t before = queue_.size();
    lock.unlock();
    std::this_thread::yield();
    lock.lock();
    if (queue_.size() == before) break;
  }
}

// Takes the turn's work from the queue, carries it out and answers it: those who are told can queue
// again before the turn is passed on, and share the next transaction.
void Writer::lead(std::unique_lock<std::mutex>& lock, const Waiter* self) {
  const Group group = take_group();
  last_group_ = group.size();
  lock.unlock();
  carry_out(group);
  answer(group, self);
  lock.lock();
}

Writer::Group Writer::take_group() {
  Group group;
  std::size_t bytes = 0;
  while (!queue_.empty() && queue_.front()->batch != nullptr && group.size() < kGroupBatchesMax) {
    bytes += payload_bytes(*queue_.front()->batch);
    if (!group.empty() && bytes > kGroupBytesMax) break;
    group.push_back(queue_.front());
    queue_.pop_front();
  }
  return group;
}

void Writer::answer(const Group& group, const Waiter* self) {
  for (Waiter* one : group) {
    if (one->done) {
      const std::unique_ptr<Waiter> owned{one};
      owned->done(std::move(*owned->result));
    } else if (one == self) {
      one->state.store(kDone);
    } else {
      tell(*one, kDone);
    }
  }
}

void Writer::run_committer() {
  std::unique_lock lock{mutex_};
  for (;;) {
    committer_wakes_.wait(lock,
                          [&] { return committer_leads_ || (ending_ && queue_.empty() && !led_); });
    if (!committer_leads_) return;
    committer_leads_ = false;
    lead(lock, nullptr);
    pass_turn();
  }
}

// --- Other processes ----------------------------------------------------------------------------

// Notes where turns stand, before the lock is tried: a turn that ends in between is not missed.
void Writer::expect_turn() {
  turn_wait_.emplace(setup_.bell);
  gives_up_at_ = {};
}

int Writer::on_busy(void* self, int /*tries*/) {
  Writer& writer = *static_cast<Writer*>(self);
  const auto now = std::chrono::steady_clock::now();
  if (writer.gives_up_at_ == std::chrono::steady_clock::time_point{}) {
    writer.gives_up_at_ = now + kBusyMax;
  }
  if (now >= writer.gives_up_at_) return 0;
  if (!writer.turn_wait_) writer.turn_wait_.emplace(writer.setup_.bell);
  writer.turn_wait_->wait(kBusyLook);
  return 1;
}

// --- The snapshot between commits
// -----------------------------------------------------------------

bool Writer::in_a_burst() {
  const auto now = std::chrono::steady_clock::now();
  const bool burst = now - std::exchange(last_transaction_, now) < kBurstGap;
  if (!applier_->keeps_snapshot()) {
    snapshot_since_ = now;
    return burst;
  }
  if (burst && now - snapshot_since_ < kSnapshotMax) return true;
  applier_->leave_snapshot();
  return false;
}

void Writer::keep_snapshot_for_a_while() {
  {
    const std::lock_guard lock{mutex_};
    if (std::exchange(snapshot_kept_, true)) return;
    if (!settler_.joinable()) {
      auto thread = start_quiet_thread("hf-settle", [this] { run_settler(); });
      if (!thread) {
        applier_->leave_snapshot();
        return;
      }
      settler_ = std::move(*thread);
    }
  }
  settler_wakes_.notify_one();
}

void Writer::run_settler() {
  std::unique_lock lock{mutex_};
  for (;;) {
    settler_wakes_.wait(lock, [&] { return snapshot_kept_ || ending_; });
    if (ending_) return;
    settler_wakes_.wait_for(lock, 2 * kSnapshotMax, [&] { return ending_; });
    if (ending_) return;
    Waiter self;
    take_turn(lock, self);
    std::erase(queue_, &self);
    snapshot_kept_ = false;
    lock.unlock();
    applier_->leave_snapshot();
    lock.lock();
    pass_turn();
  }
}

// --- Transactions -------------------------------------------------------------------------------

void Writer::carry_out(const Group& group) {
  expect_turn();
  if (setup_.before && !stopped()) setup_.before();
  gives_up_at_ = {};
  carry_out_together(group);
}

void Writer::carry_out_together(std::span<Waiter* const> group) {
  if (stopped()) {
    refuse(group, stopped_error());
    return;
  }
  const bool kept = applier_->keeps_snapshot();
  auto ok = applier_->begin(in_a_burst());
  if (!kept && applier_->keeps_snapshot()) keep_snapshot_for_a_while();
  std::vector<const Batch*> committed;
  for (Waiter* one : group) {
    if (!ok) break;
    one->result = applier_->add(*one->batch);
    if (*one->result) {
      committed.push_back(one->batch);
    } else if (applier_->failed()) {
      ok = fail(one->result->error());
    }
  }
  if (ok) ok = applier_->finish();
  if (ok) {
    setup_.bell.writer_done();
    if (!committed.empty() && setup_.committed) setup_.committed(committed);
    return;
  }
  applier_->abandon();
  setup_.bell.writer_done();
  if (is_sync_failure(setup_.connection.error_code()) || ok.error().code == ErrorCode::kStopped) {
    stop();
  }
  // What one batch of a group has no space for, the others may have.
  if (ok.error().code == ErrorCode::kDiskFull && group.size() > 1) {
    for (std::size_t i = 0; i < group.size(); ++i) carry_out_together(group.subspan(i, 1));
    return;
  }
  refuse(group, ok.error());
}

Error Writer::stopped_error() const {
  return {ErrorCode::kStopped,
          fmt::format("the store '{}' stopped after a failed sync, because what the disk holds is "
                      "not known: reopen it",
                      setup_.connection.path())};
}

void Writer::refuse(std::span<Waiter* const> group, const Error& error) {
  for (Waiter* one : group) one->result = fail(error);
}

}  // namespace holdfast::store
