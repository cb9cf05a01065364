#include "sim/fault_vfs.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <holdfast/check.h>

namespace holdfast::sim {
namespace {

constexpr int kSectorBytes = 4'096;

// What the connections to one database share beside its bytes.
struct Shared {
  int shared = 0;
  const void* reserved = nullptr;
  const void* pending = nullptr;
  const void* exclusive = nullptr;
  std::vector<std::unique_ptr<char[]>> regions{};
  int region_users = 0;
  std::array<int, SQLITE_SHM_NLOCK> region_shared{};
  std::array<const void*, SQLITE_SHM_NLOCK> region_exclusive{};
};

int code_of(Verdict verdict, int refused) {
  switch (verdict) {
    case Verdict::kGoOn: return SQLITE_OK;
    case Verdict::kFull: return SQLITE_FULL;
    case Verdict::kFail:
    case Verdict::kDead: return refused;
  }
  return refused;
}

}  // namespace

class FaultVfs::Impl {
 public:
  Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { sqlite3_vfs_unregister(&vfs_); }

  [[nodiscard]] std::shared_ptr<Shared> shared_of(const std::string& file) {
    const std::lock_guard lock{mutex};
    auto& shared = shared_[file];
    if (!shared) shared = std::make_shared<Shared>();
    return shared;
  }
  void forget_shared() {
    const std::lock_guard lock{mutex};
    shared_.clear();
  }

  FaultDisk disk;
  std::mutex mutex;  // guards every Shared, and `random`
  Random random{1};
  std::string name;
  std::atomic<std::uint64_t> unnamed{0};

 private:
  std::map<std::string, std::shared_ptr<Shared>> shared_;
  sqlite3_vfs vfs_{};
};

namespace {

struct Handle {
  Handle(FaultVfs::Impl& owner, std::string its_name, std::shared_ptr<FaultDisk::File> its_file,
         bool remove)
      : impl{owner},
        name{std::move(its_name)},
        file{std::move(its_file)},
        shared{owner.shared_of(name)},
        life{owner.disk.life()},
        remove_on_close{remove} {}

  FaultVfs::Impl& impl;
  std::string name;
  std::shared_ptr<FaultDisk::File> file;  // shared with the disk: an open file outlives its name
  std::shared_ptr<Shared> shared;         // shared between the connections to one database
  std::uint64_t life;
  bool remove_on_close;
  int level = SQLITE_LOCK_NONE;
  bool uses_regions = false;
  std::array<bool, SQLITE_SHM_NLOCK> holds_shared{};
  std::array<bool, SQLITE_SHM_NLOCK> holds_exclusive{};

  [[nodiscard]] bool dead() const { return impl.disk.dead() || life != impl.disk.life(); }
};

// What SQLite allocates for each file.
struct OpenFile {
  sqlite3_file base;
  Handle* handle;
};

Handle& handle_of(sqlite3_file* file) { return *reinterpret_cast<OpenFile*>(file)->handle; }
FaultVfs::Impl& impl_of(sqlite3_vfs* vfs) { return *static_cast<FaultVfs::Impl*>(vfs->pAppData); }

// --- Locks of the database file -----------------------------------------------------------------

void unlock_to(Handle& handle, int level) {
  Shared& shared = *handle.shared;
  if (shared.reserved == &handle) shared.reserved = nullptr;
  if (shared.pending == &handle) shared.pending = nullptr;
  if (shared.exclusive == &handle) shared.exclusive = nullptr;
  if (level == SQLITE_LOCK_NONE && handle.level >= SQLITE_LOCK_SHARED) --shared.shared;
  handle.level = std::min(handle.level, level);
}

bool free_of_others(const void* holder, const Handle& handle) {
  return holder == nullptr || holder == &handle;
}

int lock_to(Handle& handle, int level) {
  Shared& shared = *handle.shared;
  if (handle.level >= level) return SQLITE_OK;
  if (level == SQLITE_LOCK_SHARED) {
    if (!free_of_others(shared.pending, handle) || !free_of_others(shared.exclusive, handle)) {
      return SQLITE_BUSY;
    }
    ++shared.shared;
    handle.level = level;
    return SQLITE_OK;
  }
  if (!free_of_others(shared.reserved, handle) || !free_of_others(shared.pending, handle)) {
    return SQLITE_BUSY;
  }
  if (level == SQLITE_LOCK_RESERVED) {
    shared.reserved = &handle;
    handle.level = level;
    return SQLITE_OK;
  }
  shared.pending = &handle;
  handle.level = SQLITE_LOCK_PENDING;
  if (shared.shared > 1) return SQLITE_BUSY;  // this one holds the one that is left
  shared.exclusive = &handle;
  handle.level = SQLITE_LOCK_EXCLUSIVE;
  return SQLITE_OK;
}

int x_lock(sqlite3_file* file, int level) {
  Handle& handle = handle_of(file);
  if (handle.dead()) return SQLITE_IOERR_LOCK;
  const std::lock_guard lock{handle.impl.mutex};
  return lock_to(handle, level);
}

int x_unlock(sqlite3_file* file, int level) {
  Handle& handle = handle_of(file);
  const std::lock_guard lock{handle.impl.mutex};
  unlock_to(handle, level);
  return SQLITE_OK;
}

int x_check_reserved_lock(sqlite3_file* file, int* out) {
  Handle& handle = handle_of(file);
  const std::lock_guard lock{handle.impl.mutex};
  *out = handle.shared->reserved != nullptr ? 1 : 0;
  return SQLITE_OK;
}

// --- Shared memory ------------------------------------------------------------------------------

int x_shm_map(sqlite3_file* file, int region, int bytes, int extend, void volatile** out) {
  Handle& handle = handle_of(file);
  *out = nullptr;
  if (handle.dead()) return SQLITE_IOERR_SHMMAP;
  const std::lock_guard lock{handle.impl.mutex};
  Shared& shared = *handle.shared;
  const auto index = static_cast<std::size_t>(region);
  if (shared.regions.size() <= index) {
    if (extend == 0) return SQLITE_OK;
    if (const Verdict verdict = handle.impl.disk.map(); verdict != Verdict::kGoOn) {
      return code_of(verdict, SQLITE_IOERR_SHMSIZE);
    }
    while (shared.regions.size() <= index) {
      shared.regions.push_back(std::make_unique<char[]>(static_cast<std::size_t>(bytes)));
    }
  }
  if (!std::exchange(handle.uses_regions, true)) ++shared.region_users;
  *out = shared.regions[index].get();
  return SQLITE_OK;
}

void release_region_lock(Handle& handle, std::size_t slot) {
  if (std::exchange(handle.holds_shared[slot], false)) --handle.shared->region_shared[slot];
  if (std::exchange(handle.holds_exclusive[slot], false)) {
    handle.shared->region_exclusive[slot] = nullptr;
  }
}

int x_shm_lock(sqlite3_file* file, int offset, int count, int flags) {
  Handle& handle = handle_of(file);
  if (handle.dead()) return SQLITE_IOERR_SHMLOCK;
  const std::lock_guard lock{handle.impl.mutex};
  Shared& shared = *handle.shared;
  const auto first = static_cast<std::size_t>(offset);
  const std::size_t end = first + static_cast<std::size_t>(count);
  if ((flags & SQLITE_SHM_UNLOCK) != 0) {
    for (std::size_t slot = first; slot < end; ++slot) release_region_lock(handle, slot);
    return SQLITE_OK;
  }
  const bool exclusive = (flags & SQLITE_SHM_EXCLUSIVE) != 0;
  for (std::size_t slot = first; slot < end; ++slot) {
    if (!free_of_others(shared.region_exclusive[slot], handle)) return SQLITE_BUSY;
    const int others = shared.region_shared[slot] - (handle.holds_shared[slot] ? 1 : 0);
    if (exclusive && others > 0) return SQLITE_BUSY;
  }
  for (std::size_t slot = first; slot < end; ++slot) {
    if (exclusive) {
      shared.region_exclusive[slot] = &handle;
      handle.holds_exclusive[slot] = true;
    } else if (!std::exchange(handle.holds_shared[slot], true)) {
      ++shared.region_shared[slot];
    }
  }
  return SQLITE_OK;
}

void x_shm_barrier(sqlite3_file* file) { const std::lock_guard lock{handle_of(file).impl.mutex}; }

int x_shm_unmap(sqlite3_file* file, int /*remove*/) {
  Handle& handle = handle_of(file);
  const std::lock_guard lock{handle.impl.mutex};
  for (std::size_t slot = 0; slot < handle.holds_shared.size(); ++slot) {
    release_region_lock(handle, slot);
  }
  // The last to leave takes it along: who comes next rebuilds it from the write-ahead log.
  if (std::exchange(handle.uses_regions, false) && --handle.shared->region_users == 0) {
    handle.shared->regions.clear();
  }
  return SQLITE_OK;
}

// --- Files --------------------------------------------------------------------------------------

int x_close(sqlite3_file* file) {
  Handle* handle = &handle_of(file);
  (void)x_shm_unmap(file, 0);
  (void)x_unlock(file, SQLITE_LOCK_NONE);
  if (handle->remove_on_close && !handle->dead())
    (void)handle->impl.disk.remove(handle->name, true);
  delete handle;
  return SQLITE_OK;
}

int x_read(sqlite3_file* file, void* to, int size, sqlite3_int64 at) {
  Handle& handle = handle_of(file);
  if (handle.dead()) return SQLITE_IOERR_READ;
  std::size_t got = 0;
  const Verdict verdict =
      handle.impl.disk.read(*handle.file, static_cast<char*>(to), static_cast<std::size_t>(size),
                            static_cast<std::uint64_t>(at), got);
  if (verdict != Verdict::kGoOn) return SQLITE_IOERR_READ;
  return got == static_cast<std::size_t>(size) ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

int x_write(sqlite3_file* file, const void* from, int size, sqlite3_int64 at) {
  Handle& handle = handle_of(file);
  if (handle.dead()) return SQLITE_IOERR_WRITE;
  const std::string_view bytes{static_cast<const char*>(from), static_cast<std::size_t>(size)};
  return code_of(handle.impl.disk.write(*handle.file, bytes, static_cast<std::uint64_t>(at)),
                 SQLITE_IOERR_WRITE);
}

int x_truncate(sqlite3_file* file, sqlite3_int64 size) {
  Handle& handle = handle_of(file);
  if (handle.dead()) return SQLITE_IOERR_TRUNCATE;
  return code_of(handle.impl.disk.truncate(*handle.file, static_cast<std::uint64_t>(size)),
                 SQLITE_IOERR_TRUNCATE);
}

int x_sync(sqlite3_file* file, int /*flags*/) {
  Handle& handle = handle_of(file);
  if (handle.dead()) return SQLITE_IOERR_FSYNC;
  return code_of(handle.impl.disk.sync(*handle.file), SQLITE_IOERR_FSYNC);
}

int x_file_size(sqlite3_file* file, sqlite3_int64* size) {
  Handle& handle = handle_of(file);
  if (handle.dead()) return SQLITE_IOERR_FSTAT;
  *size = static_cast<sqlite3_int64>(handle.impl.disk.size(*handle.file));
  return SQLITE_OK;
}

int x_file_control(sqlite3_file* file, int op, void* out) {
  if (op == SQLITE_FCNTL_VFSNAME) {
    *static_cast<char**>(out) = sqlite3_mprintf("%s", handle_of(file).impl.name.c_str());
    return SQLITE_OK;
  }
  return SQLITE_NOTFOUND;
}

int x_sector_size(sqlite3_file* /*file*/) { return kSectorBytes; }
int x_device_characteristics(sqlite3_file* /*file*/) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }

const sqlite3_io_methods& io_methods() {
  static const sqlite3_io_methods methods = [] {
    sqlite3_io_methods made{};
    made.iVersion = 2;
    made.xClose = x_close;
    made.xRead = x_read;
    made.xWrite = x_write;
    made.xTruncate = x_truncate;
    made.xSync = x_sync;
    made.xFileSize = x_file_size;
    made.xLock = x_lock;
    made.xUnlock = x_unlock;
    made.xCheckReservedLock = x_check_reserved_lock;
    made.xFileControl = x_file_control;
    made.xSectorSize = x_sector_size;
    made.xDeviceCharacteristics = x_device_characteristics;
    made.xShmMap = x_shm_map;
    made.xShmLock = x_shm_lock;
    made.xShmBarrier = x_shm_barrier;
    made.xShmUnmap = x_shm_unmap;
    return made;
  }();
  return methods;
}

// --- The file system ----------------------------------------------------------------------------

int x_open(sqlite3_vfs* vfs, sqlite3_filename name, sqlite3_file* file, int flags, int* out_flags) {
  FaultVfs::Impl& impl = impl_of(vfs);
  auto* open = reinterpret_cast<OpenFile*>(file);
  open->base.pMethods = nullptr;
  const std::string path =
      name != nullptr ? std::string{name} : fmt::format("unnamed-{}", ++impl.unnamed);
  const bool create = (flags & SQLITE_OPEN_CREATE) != 0;
  Verdict verdict{};
  auto found = impl.disk.open(path, create, verdict);
  if (!found) {
    return verdict == Verdict::kGoOn ? SQLITE_CANTOPEN : code_of(verdict, SQLITE_CANTOPEN);
  }
  open->handle = new Handle(impl, path, std::move(found), (flags & SQLITE_OPEN_DELETEONCLOSE) != 0);
  open->base.pMethods = &io_methods();
  if (out_flags != nullptr) *out_flags = flags;
  return SQLITE_OK;
}

int x_delete(sqlite3_vfs* vfs, const char* name, int sync_directory) {
  FaultDisk& disk = impl_of(vfs).disk;
  if (!disk.exists(name)) return SQLITE_IOERR_DELETE_NOENT;
  return code_of(disk.remove(name, sync_directory != 0), SQLITE_IOERR_DELETE);
}

int x_access(sqlite3_vfs* vfs, const char* name, int /*flags*/, int* out) {
  FaultDisk& disk = impl_of(vfs).disk;
  if (disk.dead()) return SQLITE_IOERR_ACCESS;
  *out = disk.exists(name) ? 1 : 0;
  return SQLITE_OK;
}

int x_full_pathname(sqlite3_vfs* /*vfs*/, const char* name, int size, char* out) {
  sqlite3_snprintf(size, out, "%s", name);
  return SQLITE_OK;
}

int x_randomness(sqlite3_vfs* vfs, int size, char* out) {
  FaultVfs::Impl& impl = impl_of(vfs);
  const std::lock_guard lock{impl.mutex};
  for (int i = 0; i < size; ++i) out[i] = static_cast<char>(impl.random.below(256));
  return size;
}

int x_sleep(sqlite3_vfs* /*vfs*/, int micros) {
  std::this_thread::sleep_for(std::chrono::microseconds{micros});
  return micros;
}

int x_current_time(sqlite3_vfs* /*vfs*/, double* out) {
  *out = 2'460'000.5;
  return SQLITE_OK;
}

int x_current_time_64(sqlite3_vfs* /*vfs*/, sqlite3_int64* out) {
  *out = 212'544'043'200'000;
  return SQLITE_OK;
}

int x_last_error(sqlite3_vfs* /*vfs*/, int /*size*/, char* /*out*/) { return 0; }

std::string next_name() {
  static std::atomic<std::uint64_t> made{0};
  return fmt::format("holdfast-sim-{}", ++made);
}

}  // namespace

FaultVfs::Impl::Impl() : name{next_name()} {
  vfs_.iVersion = 2;
  vfs_.szOsFile = sizeof(OpenFile);
  vfs_.mxPathname = 1'024;
  vfs_.zName = name.c_str();
  vfs_.pAppData = this;
  vfs_.xOpen = x_open;
  vfs_.xDelete = x_delete;
  vfs_.xAccess = x_access;
  vfs_.xFullPathname = x_full_pathname;
  vfs_.xRandomness = x_randomness;
  vfs_.xSleep = x_sleep;
  vfs_.xCurrentTime = x_current_time;
  vfs_.xCurrentTimeInt64 = x_current_time_64;
  vfs_.xGetLastError = x_last_error;
  HOLDFAST_CHECK(sqlite3_vfs_register(&vfs_, 0) == SQLITE_OK, "SQLite takes no more VFSs");
}

FaultVfs::FaultVfs() : impl_{std::make_unique<Impl>()} {}
FaultVfs::~FaultVfs() = default;
const std::string& FaultVfs::name() const { return impl_->name; }
FaultDisk& FaultVfs::disk() { return impl_->disk; }

void FaultVfs::crash(Loss loss, Random& random) {
  impl_->disk.crash(loss, random);
  impl_->forget_shared();
}

}  // namespace holdfast::sim
