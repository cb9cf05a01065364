// Moves the write-ahead log's pages into the file, beside the commits.
//
//   WAL size   0 ........ checkpoint_bytes ........................ bytes_max
//              nothing    a thread copies; nobody waits for it      commits wait for a restart
//
// A copy that runs beside commits rarely catches up with them, so under unbroken writing the WAL
// grows until commits wait once; then it starts again from its beginning.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "store/sqlite/bell.h"
#include "store/sqlite/counters.h"
#include "store/sqlite/database.h"

namespace holdfast::store {

class Checkpointer {
 public:
  struct Setup {
    std::size_t checkpoint_bytes = 0;
    std::size_t bytes_max = 0;
    std::function<Result<Connection>()> open;
    Bell& bell;
    Counters& counters;
    /// A sync failed, so nothing more may be written. On the writer's or the checkpointer's thread.
    std::function<void()> sync_failed;
  };
  explicit Checkpointer(Setup setup) : setup_{std::move(setup)} {}
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;
  ~Checkpointer();

  /// Listens to a writing connection's commits.
  void attach(Connection& writer);
  /// Whether the next transaction has to wait for hold_back(). On the writer's turn.
  [[nodiscard]] bool over_cap() const {
    return wal_bytes_.load(std::memory_order_relaxed) >= next_hold_back_;
  }
  /// Copies all of the WAL, so that it starts again with the next transaction. On the writer's
  /// turn, with no transaction open; waits for readers as the connection's busy handler says.
  void hold_back(Connection& writer);

  [[nodiscard]] std::uint64_t wal_bytes() const { return wal_bytes_.load(); }

 private:
  static int on_commit(void* self, sqlite3* db, const char* name, int frames);
  void note(int frames);
  int checkpoint(Connection& connection, int mode);
  void run();

  Setup setup_;
  std::atomic<std::uint64_t> wal_bytes_{0};
  std::uint64_t next_at_ = 0;         // when to wake the thread; the writer's own
  std::uint64_t next_hold_back_ = 0;  // when to wait for a restart; the writer's own

  std::mutex copying_;  // held during a checkpoint: SQLite does not wait for another's end
  std::mutex mutex_;
  std::condition_variable wakes_;
  // Guarded by mutex_.
  bool wanted_ = false;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace holdfast::store
