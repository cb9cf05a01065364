// SQLite's own VFS, but with a hand in it where a kill hurts most: after a commit has let go of the
// write lock, which is when others can see it, and before the doorbell is rung.
#pragma once

#include <cstdint>

namespace holdfast::kill {

inline constexpr const char* kSlowVfs = "slow-unlock";

struct SlowUnlock {
  /// One commit in `pause_one_in` pauses at that place.
  std::uint32_t pause_one_in = 4;
  std::uint32_t pause_us = 500;
  /// If not 0: the process kills itself at that place of the commit of this number, from 1.
  std::uint32_t die_at = 0;
};
/// Registers the VFS `kSlowVfs`. Once.
void register_slow_vfs(const SlowUnlock& slow);

}  // namespace holdfast::kill
