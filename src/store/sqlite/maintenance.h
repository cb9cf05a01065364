// Long work on a whole store: checking, copying, giving space back. Each reads in one snapshot on a
// connection of its own, beside readers and writers.
#pragma once

#include <string>

#include <holdfast/sqlite_store.h>

#include "store/sqlite/database.h"
#include "store/sqlite/writer.h"

namespace holdfast::store {

/// See SqliteStore::check.
[[nodiscard]] Result<CheckReport> check_store(Connection& connection, const Progress& progress);
/// See SqliteStore::backup.
[[nodiscard]] Result<void> backup_store(Connection& connection, const std::string& path,
                                        const Progress& progress);
/// See SqliteStore::compact.
[[nodiscard]] Result<void> compact_store(Writer& writer, const Progress& progress);
/// See SqliteStore::info.
[[nodiscard]] Result<StoreInfo> store_info(Connection& connection);

}  // namespace holdfast::store
