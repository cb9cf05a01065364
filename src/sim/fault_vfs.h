// A SQLite VFS over a FaultDisk: nothing touches the real disk, and everything a crash can do to a
// file can be done to this one. Locks and the shared memory of WAL mode work between all
// connections of this process.
//
//   sim::FaultVfs vfs;
//   open_sqlite_store(path, {.vfs = vfs.name()});
//   vfs.disk().plan(Fault::kCut, 17);
//   ...
//   vfs.crash(Loss::kDropped, random);   // after the store is gone; then open it again
#pragma once

#include <memory>
#include <string>

#include "sim/fault_disk.h"

namespace holdfast::sim {

class FaultVfs {
 public:
  /// Registers it under a name of its own.
  FaultVfs();
  FaultVfs(const FaultVfs&) = delete;
  FaultVfs& operator=(const FaultVfs&) = delete;
  /// Every connection that uses it must be closed by then.
  ~FaultVfs();

  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] FaultDisk& disk();
  /// The disk's crash, and the end of all locks and shared memory.
  void crash(Loss loss, Random& random);

  class Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace holdfast::sim
