#include "kill/slow_vfs.h"

#include <signal.h>
#include <sqlite3.h>
#include <unistd.h>

#include <atomic>
#include <mutex>

namespace holdfast::kill {
namespace {

constexpr int kWalWriteLock = 0;  // https://sqlite.org/walformat.html#wal_locks

sqlite3_vfs slow{};
sqlite3_vfs* base = nullptr;
sqlite3_io_methods methods{};
const sqlite3_io_methods* base_methods = nullptr;
SlowUnlock chosen;
std::atomic<std::uint32_t> unlocks{0};
std::mutex methods_mutex;

int shm_lock(sqlite3_file* file, int offset, int count, int flags) {
  const int result = base_methods->xShmLock(file, offset, count, flags);
  constexpr int kUnlockExclusive = SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE;
  if (offset == kWalWriteLock && flags == kUnlockExclusive) {
    const std::uint32_t commit = unlocks.fetch_add(1) + 1;
    if (commit == chosen.die_at) ::kill(::getpid(), SIGKILL);
    if (commit % chosen.pause_one_in == 0) ::usleep(chosen.pause_us);
  }
  return result;
}

int open(sqlite3_vfs* /*vfs*/, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  const int result = base->xOpen(base, name, file, flags, out_flags);
  const bool shared = file->pMethods != nullptr && file->pMethods->iVersion >= 2 &&
                      file->pMethods->xShmLock != nullptr;
  if (result != SQLITE_OK || (flags & SQLITE_OPEN_MAIN_DB) == 0 || !shared) return result;
  const std::lock_guard guard{methods_mutex};
  if (base_methods == nullptr) {
    methods = *file->pMethods;
    methods.xShmLock = &shm_lock;
    base_methods = file->pMethods;
  }
  if (file->pMethods == base_methods) file->pMethods = &methods;
  return result;
}

}  // namespace

void register_slow_vfs(const SlowUnlock& how) {
  base = sqlite3_vfs_find(nullptr);
  slow = *base;
  slow.zName = kSlowVfs;
  slow.pNext = nullptr;
  slow.xOpen = &open;
  chosen = how;
  sqlite3_vfs_register(&slow, 0);
}

}  // namespace holdfast::kill
