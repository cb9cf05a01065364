#include "crash/crash_run.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/dump.h"

namespace holdfast::crash {
namespace {

constexpr sim::ScriptShape kShape{.homes = 2,
                                  .logs = 2,
                                  .keys = 4,
                                  .record_bytes_max = 20'000,
                                  .commits_only = true,
                                  .refusals = false};

}  // namespace

// --- The workload -------------------------------------------------------------------------------

Workload::Workload(std::uint64_t seed, std::size_t commits)
    : script_{seed, kShape}, model_{make_memory_store()} {
  dumps_.push_back(sim::dump(*model_, sim::Script::spaces()));
  for (std::size_t i = 0; i < commits; ++i) {
    Action action{.kind = Action::Kind::kCommit, .batch = script_.next(*model_).batch};
    if (model_->commit(*sim::resolve(action.batch, *model_))) add(std::move(action));
    if (i % 12 == 5) add({.kind = Action::Kind::kSeal});
    if (i % 12 == 8) add({.kind = Action::Kind::kCompact});
    if (i % 24 == 11) add({.kind = Action::Kind::kBackup});
  }
}

void Workload::add(Action action) {
  actions_.push_back(std::move(action));
  dumps_.push_back(sim::dump(*model_, sim::Script::spaces()));
}

std::string describe(const Point& point) {
  return fmt::format("{} at call {}, then {}", sim::fault_name(point.fault), point.at,
                     sim::loss_name(point.loss));
}

// --- One run ------------------------------------------------------------------------------------

Run::Run(const Workload& workload, const RunOptions& options, const Point& point)
    : workload_{workload}, options_{options}, point_{point}, random_{point.at * 8 + 1} {}

Judgement Run::judge() {
  vfs_.disk().plan(point_.fault, point_.at);
  work();
  judgement_.struck = vfs_.disk().struck();
  judgement_.calls = vfs_.disk().calls();
  if (judgement_.broken.empty()) recover();
  return std::move(judgement_);
}

std::uint64_t Run::calls(const Workload& workload, const RunOptions& options, sim::Fault fault) {
  Run run{workload, options, {.fault = sim::Fault::kNone}};
  run.vfs_.disk().plan(sim::Fault::kNone, 0);
  run.work();
  if (!run.judgement_.broken.empty()) return 0;
  return fault == sim::Fault::kNone ? run.vfs_.disk().calls() : run.vfs_.disk().calls(fault);
}

void Run::broken(const std::string& what) {
  if (judgement_.broken.empty()) {
    judgement_.broken = fmt::format("{}: {} of {} actions acknowledged: {}", describe(point_),
                                    acknowledged_, workload_.actions().size(), what);
  }
}

Result<std::unique_ptr<SqliteStore>> Run::open() {
  SqliteOptions options{.durability = options_.durability,
                        .background_seal = options_.background,
                        .vfs = vfs_.name()};
  if (options_.background) {
    options.seal_after_bytes = 16u << 10;
    options.wal_checkpoint_bytes = 64u << 10;
  }
  return open_sqlite_store(directory_.file("store.db"), options);
}

Result<void> Run::perform(SqliteStore& store, std::size_t index) {
  const Action& action = workload_.actions()[index];
  switch (action.kind) {
    case Action::Kind::kCommit: {
      const auto batch = sim::resolve(action.batch, store);
      if (!batch) return fail(batch.error());
      const auto committed = store.commit(*batch);
      if (!committed) return fail(committed.error());
      return {};
    }
    case Action::Kind::kSeal: {
      const auto sealed = store.seal();
      if (!sealed) return fail(sealed.error());
      return {};
    }
    case Action::Kind::kCompact: return store.compact();
    case Action::Kind::kBackup: {
      const std::string path = directory_.file(fmt::format("backup-{}.db", ++backups_));
      const bool struck = vfs_.disk().struck();
      auto done = store.backup(path);
      if (done && struck != vfs_.disk().struck()) verify_backup(path);
      return done;
    }
  }
  return {};
}

void Run::work() {
  auto store = open();
  if (!store) {
    if (vfs_.disk().dead()) return;
    if (!vfs_.disk().struck()) return broken("not opened: " + store.error().message);
    vfs_.disk().make_space();
    store = open();
    if (!store) return broken("not opened after the fault: " + store.error().message);
  }
  while (acknowledged_ < workload_.actions().size()) {
    const auto done = perform(**store, acknowledged_);
    if (vfs_.disk().dead()) return;  // what was answered since the cut counts for nothing
    if (!done && !live_on(**store, done.error())) return;
    if (done) ++acknowledged_;
  }
}

bool Run::live_on(SqliteStore& store, const Error& error) {
  if (!vfs_.disk().struck()) {
    broken("refused without a fault: " + error.message);
    return false;
  }
  if (error.code == ErrorCode::kStopped) {
    if (point_.fault != sim::Fault::kSyncFails) broken("stopped: " + error.message);
    // It stays so: nothing is acknowledged until it is opened again.
    const auto again = store.commit({.home = "home/0", .creates = {{.log = "late"}}});
    if (again) broken("a stopped store took a commit");
    if (!again && again.error().code != ErrorCode::kStopped) {
      broken("a stopped store refused with " + again.error().message);
    }
    stopped_ = true;
    return false;
  }
  const bool full = point_.fault == sim::Fault::kDiskFull;
  if (full ? error.code != ErrorCode::kDiskFull : error.code != ErrorCode::kIo) {
    broken(fmt::format("refused with {}: {}", error_name(error.code), error.message));
    return false;
  }
  const std::string dump = sim::dump(store, sim::Script::spaces());
  if (dump != workload_.dump_after(acknowledged_)) {
    broken("a refused action left something: " +
           sim::difference(workload_.dump_after(acknowledged_), dump));
    return false;
  }
  if (full && std::exchange(stopped_, true)) {
    broken("refused though there is space again: " + error.message);
    return false;
  }
  vfs_.disk().make_space();
  return true;
}

bool Run::may_lose_acknowledged() const {
  return options_.durability == Durability::kRelaxed && point_.loss != sim::Loss::kProcess;
}

bool Run::matches(const std::string& dump, std::size_t from, std::size_t to,
                  std::size_t& found) const {
  for (found = to; found + 1 > from; --found) {
    if (workload_.dump_after(found) == dump) return true;
    if (found == 0) break;
  }
  return false;
}

void Run::recover() {
  vfs_.crash(point_.loss, random_);
  // Every third time the recovery is cut as well, and made once more.
  if (point_.at % 3 == 0) {
    vfs_.disk().plan(sim::Fault::kCut, 1 + point_.at % 13);
    (void)open();
    if (vfs_.disk().dead()) vfs_.crash(point_.loss, random_);
  }
  vfs_.disk().plan(sim::Fault::kNone, 0);
  auto store = open();
  if (!store) return broken("not opened after the crash: " + store.error().message);
  const std::string dump = sim::dump(**store, sim::Script::spaces());
  const std::size_t last = std::min(acknowledged_ + 1, workload_.actions().size());
  std::size_t found = 0;
  if (!matches(dump, may_lose_acknowledged() ? 0 : acknowledged_, last, found)) {
    const bool known = matches(dump, 0, workload_.actions().size(), found);
    return broken(fmt::format("after the crash the store holds {}: {}",
                              known ? fmt::format("the first {}", found) : "no prefix of them",
                              sim::difference(workload_.dump_after(acknowledged_), dump)));
  }
  const auto checked = (*store)->check();
  if (!checked) return broken("not checked: " + checked.error().message);
  if (!checked->faults.empty()) return broken("check found: " + checked->faults.front());
  go_on(**store, found);
}

void Run::go_on(SqliteStore& store, std::size_t from) {
  for (std::size_t i = from; i < workload_.actions().size(); ++i) {
    if (const auto done = perform(store, i); !done) {
      return broken(fmt::format("action {} refused after the crash: {}", i, done.error().message));
    }
  }
  const std::string dump = sim::dump(store, sim::Script::spaces());
  if (dump != workload_.dump_after(workload_.actions().size())) {
    broken("in the end the store is wrong: " +
           sim::difference(workload_.dump_after(workload_.actions().size()), dump));
  }
}

void Run::verify_backup(const std::string& path) {
  const auto copy = open_sqlite_store(path, {.must_exist = true});
  if (!copy) return broken("the backup cannot be opened: " + copy.error().message);
  if (sim::dump(**copy, sim::Script::spaces()) != workload_.dump_after(acknowledged_)) {
    broken("the backup holds something else");
  }
}

}  // namespace holdfast::crash
