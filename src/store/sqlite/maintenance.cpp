#include "store/sqlite/maintenance.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include <fmt/format.h>

namespace holdfast::store {
namespace {

constexpr int kBackupPagesPerStep = 1'024;
constexpr int kCompactPagesPerStep = 512;

std::uint64_t file_bytes(const std::string& path) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  return error ? 0 : bytes;
}

Error file_error(std::string_view doing, const std::string& path) {
  const int code = errno;
  return {code == ENOSPC ? ErrorCode::kDiskFull : ErrorCode::kIo,
          fmt::format("cannot {} '{}': {}", doing, path, std::strerror(code))};
}

// Makes a finished file appear under its name, durably, unless there is one.
Result<void> publish(const std::string& from, const std::string& to) {
  if (::link(from.c_str(), to.c_str()) != 0) {
    if (errno == EEXIST) {
      return fail(ErrorCode::kAlreadyExists,
                  fmt::format("'{}' is there already: give another path", to));
    }
    return fail(file_error("make", to));
  }
  ::unlink(from.c_str());
  const std::string parent = std::filesystem::absolute(to).parent_path().string();
  const int directory = ::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return fail(file_error("open", parent));
  const int synced = ::fsync(directory);
  ::close(directory);
  if (synced != 0) return fail(file_error("sync", parent));
  return {};
}

Result<void> copy_pages(Connection& from, Connection& to, const Progress& progress) {
  struct Finish {
    void operator()(sqlite3_backup* backup) const noexcept { sqlite3_backup_finish(backup); }
  };
  std::unique_ptr<sqlite3_backup, Finish> backup{
      sqlite3_backup_init(to.get(), "main", from.get(), "main")};
  if (!backup) return fail(to.error("write the backup"));
  for (;;) {
    const int rc = sqlite3_backup_step(backup.get(), kBackupPagesPerStep);
    const auto total = static_cast<std::uint64_t>(sqlite3_backup_pagecount(backup.get()));
    const auto left = static_cast<std::uint64_t>(sqlite3_backup_remaining(backup.get()));
    if (progress) progress(total - left, total);
    if (rc == SQLITE_DONE) break;
    if (rc != SQLITE_OK) {
      return fail(sqlite_error(rc, sqlite3_errstr(rc), fmt::format("copy to '{}'", to.path())));
    }
  }
  const int rc = sqlite3_backup_finish(backup.release());
  if (rc != SQLITE_OK) return fail(to.error("finish the backup"));
  return {};
}

}  // namespace

Result<void> backup_store(Connection& connection, const std::string& path,
                          const Progress& progress) {
  if (struct stat there{}; ::lstat(path.c_str(), &there) == 0) {
    return fail(ErrorCode::kAlreadyExists,
                fmt::format("'{}' is there already: give another path", path));
  }
  // The transaction holds one snapshot, so that commits meanwhile do not make the copy start again.
  if (auto ok = connection.execute("BEGIN; SELECT 1 FROM sqlite_schema"); !ok) return ok;
  const std::string partial = fmt::format("{}.partial-{}", path, ::getpid());
  ::unlink(partial.c_str());
  auto copied = [&]() -> Result<void> {
    auto target = Connection::open(partial, true, {});
    if (!target) return fail(std::move(target.error()));
    return copy_pages(connection, *target, progress);
  }();
  connection.rollback();
  if (copied) copied = publish(partial, path);
  for (const char* suffix : {"", "-journal", "-wal", "-shm"}) {
    ::unlink((partial + suffix).c_str());
  }
  return copied;
}

Result<void> compact_store(Writer& writer, const Progress& progress) {
  std::uint64_t total = 0;
  for (std::uint64_t left = 1; left > 0;) {
    auto ok = writer.alone([&](Connection& connection) -> Result<void> {
      const std::string sql = fmt::format("PRAGMA incremental_vacuum({})", kCompactPagesPerStep);
      if (auto done = connection.execute(sql.c_str()); !done) return done;
      const auto free = connection.number("PRAGMA freelist_count");
      if (!free) return fail(free.error());
      left = static_cast<std::uint64_t>(*free);
      return {};
    });
    if (!ok) return ok;
    total = std::max(total, left + kCompactPagesPerStep);
    if (progress) progress(total - left, total);
  }
  return writer.alone([](Connection& connection) -> Result<void> {
    const int rc = sqlite3_wal_checkpoint_v2(connection.get(), "main", SQLITE_CHECKPOINT_TRUNCATE,
                                             nullptr, nullptr);
    // A reader that holds on to old pages keeps the WAL; the file itself is compact all the same.
    if (rc != SQLITE_OK && rc != SQLITE_BUSY) return fail(connection.error("compact"));
    return {};
  });
}

Result<StoreInfo> store_info(Connection& connection) {
  StoreInfo info{.path = connection.path(),
                 .file_bytes = file_bytes(connection.path()),
                 .wal_bytes = file_bytes(connection.path() + "-wal")};
  const auto get = [&](const char* sql, auto& to) -> Result<void> {
    const auto value = connection.number(sql);
    if (!value) return fail(value.error());
    to = static_cast<std::remove_reference_t<decltype(to)>>(*value);
    return {};
  };
  std::uint64_t page_bytes = 0;
  if (auto ok = get("PRAGMA user_version", info.schema_version); !ok) return fail(ok.error());
  if (auto ok = get("PRAGMA page_size", page_bytes); !ok) return fail(ok.error());
  if (auto ok = get("PRAGMA freelist_count", info.free_bytes); !ok) return fail(ok.error());
  if (auto ok = get("SELECT count(*) FROM logs", info.logs); !ok) return fail(ok.error());
  if (auto ok = get("SELECT count(*) FROM rows", info.rows); !ok) return fail(ok.error());
  info.free_bytes *= page_bytes;
  return info;
}

}  // namespace holdfast::store
