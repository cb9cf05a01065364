// What can be said of a batch without a store (names, limits, repetitions) and of one part of it
// once the state it meets is known. Every store uses these, so that all refuse alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <holdfast/store.h>

namespace holdfast::core {

/// Names, sizes, counts, and that nothing stands twice in one list.
[[nodiscard]] Result<void> check_batch(const Batch& batch);

/// Whether an append may happen to the log as it stands; `state` is null if it is not there.
[[nodiscard]] Result<void> check_append(std::string_view home, const LogAppend& append,
                                        const LogState* state);

/// Whether a put or delete may happen to the row as it stands: its owner and its version, or empty
/// and 0 if it is not there.
[[nodiscard]] Result<void> check_row(std::string_view home, std::string_view space,
                                     std::string_view key,
                                     std::optional<std::uint64_t> expected_version,
                                     std::string_view owner, std::uint64_t version);

/// Whether a read may begin at `from`.
[[nodiscard]] Result<void> check_read(const LogKey& log, Offset from, const LogState& state);

/// The error for a log that is there and was not to be.
[[nodiscard]] Error log_exists(std::string_view home, std::string_view log);
/// The error for a log that is not there.
[[nodiscard]] Error no_such_log(std::string_view home, std::string_view log);

}  // namespace holdfast::core
