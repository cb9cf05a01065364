// The --keep options, which `stream create` and `stream retain` share.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <holdfast/stream.h>

#include "cli/args/values.h"

namespace holdfast::cli {

struct KeepOptions {
  std::optional<std::uint64_t> chunks{};
  std::optional<ByteCount> bytes{};
  std::optional<std::chrono::milliseconds> age{};

  [[nodiscard]] bool any() const { return chunks || bytes || age; }
  [[nodiscard]] Retention retention() const {
    return {chunks, bytes ? std::optional{bytes->value} : std::nullopt, age};
  }
};

inline constexpr const char* kKeepChunksHelp = "Keep at least the last N chunks; older ones go.";
inline constexpr const char* kKeepBytesHelp = "Keep at least the last SIZE: 64MiB, 2GB.";
inline constexpr const char* kKeepAgeHelp = "Keep what is younger than TIME: 12h, 7d.";

/// "the last 1,000 chunks, 7 d", or "everything".
[[nodiscard]] std::string retention_text(const Retention& retention);

}  // namespace holdfast::cli
