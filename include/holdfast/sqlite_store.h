// The embedded store: one SQLite file that many processes may open at once.
//
// Beside PATH stand `PATH-wal` and `PATH-shm` (SQLite's) and `PATH-bell` (wake-ups between
// processes; it holds nothing durable). docs/store.md has the format.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <holdfast/store.h>

namespace holdfast {

/// When a commit is acknowledged.
///
/// |         | process killed | power lost                             |
/// |---------|----------------|----------------------------------------|
/// | full    | nothing lost   | nothing lost                           |
/// | relaxed | nothing lost   | the last moments; never torn, no holes |
enum class Durability : std::uint8_t {
  kFull,     ///< after fdatasync
  kRelaxed,  ///< after the write
};

struct SqliteOptions {
  Durability durability = Durability::kFull;
  /// Refuse to make a new file.
  bool must_exist = false;
  /// Seal records past the hot tail in the background.
  bool background_seal = true;
  /// A log's unsealed records are sealed once they pass this many bytes.
  std::size_t seal_after_bytes = 1u << 20;
  /// The background checkpoint starts at this size of the write-ahead log...
  std::size_t wal_checkpoint_bytes = 4u << 20;
  /// ...and commits wait for it at this one.
  std::size_t wal_bytes_max = 64u << 20;
  /// Name of the SQLite VFS to use; empty for the system's. Tests put their faults here.
  std::string vfs{};
  const Clock* clock = &system_clock();
};

/// Called now and then during long work with how much is done of how much, in the unit of that
/// work.
using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

struct SealReport {
  std::uint64_t logs = 0;
  std::uint64_t records = 0;
  std::uint64_t bytes_before = 0;  ///< stored bytes of what was sealed
  std::uint64_t bytes_after = 0;
};

struct CheckReport {
  std::uint64_t logs = 0;
  std::uint64_t records = 0;
  std::uint64_t rows = 0;
  /// One line for each fault found: what, where. Empty means sound.
  std::vector<std::string> faults{};
};

struct StoreInfo {
  std::string path;
  std::uint32_t schema_version = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t wal_bytes = 0;
  std::uint64_t free_bytes = 0;  ///< inside the file, given back by compact()
  std::uint64_t logs = 0;
  std::uint64_t rows = 0;
};

/// A store in one SQLite file.
class SqliteStore : public Store {
 public:
  /// Seals all records of all logs except each log's newest block. Safe beside readers and writers.
  virtual Result<SealReport> seal(const Progress& progress = {}) = 0;
  /// Gives free space back to the file system and empties the write-ahead log.
  virtual Result<void> compact(const Progress& progress = {}) = 0;
  /// Reads everything: checksums, density of offsets, SQLite's own integrity check.
  virtual Result<CheckReport> check(const Progress& progress = {}) = 0;
  /// Writes a consistent copy to `path`, which must not exist, while the store is in use.
  virtual Result<void> backup(const std::string& path, const Progress& progress = {}) = 0;
  virtual Result<StoreInfo> info() = 0;
};

/// Opens or makes a store. If `path` is an existing directory, the file is `path`/holdfast.db.
/// Errors: `kIo`, `kCorrupt` (not a store), `kSchema` (made by a newer program), `kNotFound` with
/// `must_exist`.
[[nodiscard]] Result<std::unique_ptr<SqliteStore>> open_sqlite_store(
    const std::string& path, const SqliteOptions& options = {});

}  // namespace holdfast
