// The file's schema: how a file becomes a store, and how an older store becomes a newer one.
//
// Invariants
//   - `user_version` counts the migrations that a file has had; it and their work are committed
//     together.
//   - A file of a newer program is not touched.
#pragma once

#include <cstdint>
#include <span>

#include "store/sqlite/database.h"

namespace holdfast::store {

/// "Hold": `application_id` in the file's header.
inline constexpr std::int64_t kApplicationId = 0x486F'6C64;

/// The statements that bring a file from version i to i + 1, in order of i.
[[nodiscard]] std::span<const char* const> schema_migrations();

/// Settings that every connection needs, new file or old.
[[nodiscard]] Result<void> configure(Connection& connection, bool full_sync);

/// Makes the file a store of the newest version. Tests hand in lists of their own.
[[nodiscard]] Result<void> migrate(Connection& connection,
                                   std::span<const char* const> migrations = schema_migrations());

}  // namespace holdfast::store
