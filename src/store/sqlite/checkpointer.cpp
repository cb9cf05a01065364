#include "store/sqlite/checkpointer.h"

#include <chrono>
#include <utility>

#include "store/sqlite/writer_guard.h"

namespace holdfast::store {
namespace {

constexpr std::uint64_t kFrameBytes = 4'096 + 24;
constexpr std::uint64_t kWalHeaderBytes = 32;
constexpr std::uint64_t kSyncsOfCheckpoint = 2;  // the WAL's, then the file's

}  // namespace

Checkpointer::~Checkpointer() {
  {
    const std::lock_guard lock{mutex_};
    ending_ = true;
  }
  wakes_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Checkpointer::attach(Connection& writer) {
  next_at_ = setup_.checkpoint_bytes;
  next_hold_back_ = setup_.bytes_max;
  sqlite3_wal_hook(writer.get(), &Checkpointer::on_commit, this);
}

int Checkpointer::on_commit(void* self, sqlite3* /*db*/, const char* /*name*/, int frames) {
  static_cast<Checkpointer*>(self)->note(frames);
  return SQLITE_OK;
}

void Checkpointer::note(int frames) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(frames) * kFrameBytes + kWalHeaderBytes;
  if (bytes < wal_bytes_.load(std::memory_order_relaxed)) {  // it started again
    next_at_ = setup_.checkpoint_bytes;
    next_hold_back_ = setup_.bytes_max;
  }
  wal_bytes_.store(bytes, std::memory_order_relaxed);
  if (bytes < next_at_) return;
  next_at_ = bytes + setup_.checkpoint_bytes;
  {
    const std::lock_guard lock{mutex_};
    wanted_ = true;
    if (!thread_.joinable()) {
      auto thread = start_quiet_thread("hf-checkpoint", [this] { run(); });
      if (thread) thread_ = std::move(*thread);
    }
  }
  wakes_.notify_one();
}

void Checkpointer::hold_back(Connection& writer) {
  // Where a reader holds on to old pages the restart fails after a while; commits then go on, and
  // it is tried again when there is more to gain.
  next_hold_back_ = wal_bytes_.load(std::memory_order_relaxed) + setup_.checkpoint_bytes;
  // Another process may be copying just now.
  constexpr int kAttempts = 20;
  constexpr std::chrono::milliseconds kPause{10};
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    TurnWait turn{setup_.bell};
    if (checkpoint(writer, SQLITE_CHECKPOINT_RESTART) != SQLITE_BUSY) return;
    turn.wait(kPause);
  }
}

int Checkpointer::checkpoint(Connection& connection, int mode) {
  const std::lock_guard lock{copying_};
  int frames = 0;
  int copied = 0;
  const int rc = sqlite3_wal_checkpoint_v2(connection.get(), "main", mode, &frames, &copied);
  if (is_sync_failure(rc)) setup_.sync_failed();
  if (copied > 0) Counters::add(setup_.counters.syncs, kSyncsOfCheckpoint);
  return rc;
}

void Checkpointer::run() {
  auto connection = setup_.open();
  std::unique_lock lock{mutex_};
  for (;;) {
    wakes_.wait(lock, [&] { return wanted_ || ending_; });
    if (ending_) return;
    wanted_ = false;
    lock.unlock();
    if (!connection) connection = setup_.open();
    if (connection) {
      checkpoint(*connection, SQLITE_CHECKPOINT_PASSIVE);
      setup_.bell.writer_done();  // one that wants to restart the WAL may wait for this
    }
    lock.lock();
  }
}

}  // namespace holdfast::store
