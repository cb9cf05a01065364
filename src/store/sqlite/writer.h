// The one writer of a store in this process: commits queue, and whoever finds no leader leads.
//
//   commit()  ──▶ queue ──▶ leader takes all ──▶ one transaction ──▶ ring ──▶ wake the others
//
// Invariants
//   - At most one thread leads; only the leader uses the writing connection.
//   - A lone commit runs on its caller's thread and waits for nobody.
//   - Commits are carried out in the order in which they were queued.
//   - Between commits that follow each other fast the connection stays in its snapshot; when they
//     stop, or after a while, it leaves it, so that checkpoints can go on.
//   - A commit is answered after it is durable at the store's level, or after nothing of it has
//     happened. After a failed sync none is carried out any more.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include <holdfast/store.h>

#include "store/sqlite/apply.h"
#include "store/sqlite/bell.h"
#include "store/sqlite/database.h"
#include "store/sqlite/futex.h"

namespace holdfast::store {

class Writer {
 public:
  struct Setup {
    Connection connection;
    LogIds& ids;
    Counters& counters;
    const Clock& clock;
    Bell& bell;
    std::size_t growth_bytes = 0;
    std::function<void(std::uint64_t log_id)> grown{};
    /// Called by the leader after batches were committed, before they are answered.
    std::function<void(std::span<const Batch* const>)> committed;
    /// Called by the leader before a transaction, with no transaction open.
    std::function<void()> before;
  };
  [[nodiscard]] static Result<std::unique_ptr<Writer>> make(Setup setup);
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() { end(); }
  /// Waits for the commits that were queued and ends the threads. No calls may come after it.
  void end();

  Result<Committed> commit(const Batch& batch);
  void commit_async(Batch batch, CommitCallback done);

  /// Runs `work` as the only user of the writing connection, between two transactions.
  Result<void> alone(const std::function<Result<void>(Connection&)>& work);

  /// For whoever has the turn.
  [[nodiscard]] Connection& connection() { return setup_.connection; }
  /// The same: how long to wait for other processes before the next transaction.
  void wait_at_most(std::chrono::milliseconds limit) {
    applier_->leave_snapshot();
    gives_up_at_ = std::chrono::steady_clock::now() + limit;
  }

  /// Refuses everything from now on.
  void stop() { stopped_.store(true); }
  [[nodiscard]] bool stopped() const { return stopped_.load(); }

 private:
  // One call that waits. Batchless ones ask for the turn itself. Whoever is told sleeps on the
  // state, not on the mutex: many wake at once.
  static constexpr std::uint32_t kQueued = 0;
  static constexpr std::uint32_t kLeads = 1;
  static constexpr std::uint32_t kDone = 2;
  struct Waiter {
    const Batch* batch = nullptr;
    FutexWord state{kQueued};
    std::optional<Result<Committed>> result{};
    // Of an asynchronous one, which owns itself:
    std::unique_ptr<Batch> owned{};
    CommitCallback done{};
  };
  using Group = std::vector<Waiter*>;

  explicit Writer(Setup setup) : setup_{std::move(setup)} {}
  static int on_busy(void* self, int tries);
  void expect_turn();

  void take_turn(std::unique_lock<std::mutex>& lock, Waiter& self);
  void pass_turn();
  void wait_for_company(std::unique_lock<std::mutex>& lock);
  void lead(std::unique_lock<std::mutex>& lock, const Waiter* self);
  static void tell(Waiter& waiter, std::uint32_t state);
  [[nodiscard]] Group take_group();
  void carry_out(const Group& group);
  void carry_out_together(std::span<Waiter* const> group);
  void refuse(std::span<Waiter* const> group, const Error& error);
  [[nodiscard]] Error stopped_error() const;
  static void answer(const Group& group, const Waiter* self);
  void run_committer();
  [[nodiscard]] bool in_a_burst();
  void keep_snapshot_for_a_while();
  void run_settler();

  Setup setup_;
  std::unique_ptr<Applier> applier_;
  std::atomic<bool> stopped_{false};
  // The leader's own: waiting for other processes.
  std::optional<TurnWait> turn_wait_;
  std::chrono::steady_clock::time_point gives_up_at_{};
  // The leader's own, too: whether commits come fast.
  std::chrono::steady_clock::time_point last_transaction_{};
  std::chrono::steady_clock::time_point snapshot_since_{};

  std::mutex mutex_;
  // All guarded by mutex_.
  std::deque<Waiter*> queue_;
  bool led_ = false;  // someone leads
  std::size_t last_group_ = 1;
  bool committer_leads_ = false;
  bool ending_ = false;
  std::condition_variable committer_wakes_;
  std::thread committer_;
  // The thread that leaves a kept snapshot when commits have stopped coming.
  bool snapshot_kept_ = false;
  std::condition_variable settler_wakes_;
  std::thread settler_;
};

}  // namespace holdfast::store
