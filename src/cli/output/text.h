// Sizes, counts, times and names as people read them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <holdfast/clock.h>

namespace holdfast::cli {

/// "24,539"
[[nodiscard]] std::string count_text(std::uint64_t count);
/// "1 line", "24,539 lines": the singular with an s.
[[nodiscard]] std::string count_of(std::uint64_t count, std::string_view singular);
/// "0 B", "999 B", "2.1 MB": powers of 1000, three digits at most.
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);
/// "340 ms", "4.2 s", "1 min 5 s", "3 h 12 min", "7 d": the two largest units.
[[nodiscard]] std::string span_text(std::chrono::milliseconds span);
/// "2026-03-01 12:00:05 UTC"
[[nodiscard]] std::string time_text(Timestamp time);
/// "2026-03-01T12:00:05.250Z": for programs.
[[nodiscard]] std::string time_iso(Timestamp time);
/// "3 min ago", "in 2 h", "just now"
[[nodiscard]] std::string ago_text(Timestamp time, Timestamp now);

/// How many columns UTF-8 text takes on a terminal; wide characters count two, combining ones none.
[[nodiscard]] std::size_t display_width(std::string_view text);
/// The text followed (or, `right`, preceded) by spaces up to `width` columns.
[[nodiscard]] std::string padded(std::string_view text, std::size_t width, bool right = false);
/// Lines of at most `width` columns, broken at spaces; a longer word stands alone.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t width, std::size_t indent);
/// The text as one word of a POSIX shell: quoted where it must be.
[[nodiscard]] std::string shell_quoted(std::string_view text);

}  // namespace holdfast::cli
