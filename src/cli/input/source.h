// What an import reads: a file, standard input, or either decompressed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <holdfast/result.h>

#include "engine/streams/importer.h"

namespace holdfast::cli {

/// Bytes in order. A path that ends with ".zst" is decompressed; "-" is standard input. read()
/// gives what can be had with one wait. Its errors: `kIo`; `kInvalidArgument` for what is not zstd
/// or breaks off; `kCancelled`.
class Source : public engine::LineSource {
 public:
  /// Once `stop_fd` can be read from, read() gives `kCancelled`, also while it waits. Errors:
  /// `kNotFound`, `kIo`, `kInvalidArgument` (a directory).
  [[nodiscard]] static Result<std::unique_ptr<Source>> open(const std::string& path,
                                                            int stop_fd = -1);

  /// For progress: bytes of the file taken so far, compressed if it is, and its size (0 if
  /// unknown).
  [[nodiscard]] virtual std::uint64_t taken() const = 0;
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  /// "chat.jsonl", or "standard input"
  [[nodiscard]] virtual const std::string& name() const = 0;
};

}  // namespace holdfast::cli
