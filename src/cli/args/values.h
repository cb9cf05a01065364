// What an option's text means: counts, sizes, spans of time, places in a stream. Each reader
// refuses what it does not fully understand and says which words it takes.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/clock.h>
#include <holdfast/result.h>
#include <holdfast/sqlite_store.h>
#include <holdfast/stream.h>

namespace holdfast::cli {

/// A number of bytes, so that `--keep-bytes 64MiB` and `--limit 64` are read by different rules.
struct ByteCount {
  std::uint64_t value = 0;
};

/// How lines become chunks, as `--format` names it.
enum class FormatChoice : std::uint8_t { kAuto, kJsonLines, kRaw };

/// `what` names the option or argument in errors: "--limit". Each returns `kInvalidArgument` and
/// leaves `into` as it was when the text is not one of its kind.
Result<void> read_value(std::string_view what, std::string_view text, std::string& into);
/// A whole number from 0 to 2^64-1; "_" and "," may group digits.
Result<void> read_value(std::string_view what, std::string_view text, std::uint64_t& into);
/// A whole number from 0 to 65535.
Result<void> read_value(std::string_view what, std::string_view text, std::uint16_t& into);
/// "4096", "64k", "1.5MiB", "2GB": k, M, G, T are powers of 1000; Ki, Mi, Gi, Ti of 1024.
Result<void> read_value(std::string_view what, std::string_view text, ByteCount& into);
/// "90s", "15m", "36h", "7d", "250ms"; several may follow each other: "1h30m". A bare number is
/// seconds.
Result<void> read_value(std::string_view what, std::string_view text,
                        std::chrono::milliseconds& into);
/// The same; what is less than a second is refused.
Result<void> read_value(std::string_view what, std::string_view text, std::chrono::seconds& into);
/// "2026-03-01T12:00:00Z", "2026-03-01 12:00" or "2026-03-01" (UTC), or "+2h" from now.
Result<void> read_value(std::string_view what, std::string_view text, Timestamp& into);
/// "beginning", "tail", an offset N, or -N: so many chunks before the tail.
Result<void> read_value(std::string_view what, std::string_view text, From& into);
Result<void> read_value(std::string_view what, std::string_view text, Offset& into);
/// "full" or "relaxed".
Result<void> read_value(std::string_view what, std::string_view text, Durability& into);
/// "jsonl" or "raw".
Result<void> read_value(std::string_view what, std::string_view text, FormatChoice& into);

template <typename T>
Result<void> read_value(std::string_view what, std::string_view text, std::optional<T>& into) {
  T value{};
  if (auto ok = read_value(what, text, value); !ok) return ok;
  into = std::move(value);
  return {};
}

/// Each use adds one.
template <typename T>
Result<void> read_value(std::string_view what, std::string_view text, std::vector<T>& into) {
  T value{};
  if (auto ok = read_value(what, text, value); !ok) return ok;
  into.push_back(std::move(value));
  return {};
}

}  // namespace holdfast::cli
