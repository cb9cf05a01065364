// Assertions that stay on in every build. A failed check is a bug of the program (or of its
// memory): it prints what broke and aborts; recovery is reopening the store, which replays what was
// committed.
#pragma once

#include <source_location>
#include <string_view>

namespace holdfast {

/// Prints the condition, the place and the note to standard error, then aborts.
[[noreturn]] void check_failed(
    std::string_view condition, std::string_view note,
    std::source_location where = std::source_location::current()) noexcept;

}  // namespace holdfast

/// Aborts unless `condition` holds. The note says what must have gone wrong.
#define HOLDFAST_CHECK(condition, note) \
  (static_cast<bool>(condition) ? void(0) : ::holdfast::check_failed(#condition, (note)))
