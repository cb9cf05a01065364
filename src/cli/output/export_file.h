// A file that appears whole or not at all.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <holdfast/result.h>

#include "cli/output/output.h"

namespace holdfast::cli {

/// Writes beside the path under another name; commit() syncs it and gives it its name, in the place
/// of what was there. Without commit() nothing is left behind. A path that ends with ".zst" is
/// compressed. The path "-" is standard output: written at once, nothing to commit.
class ExportFile {
 public:
  [[nodiscard]] static Result<std::unique_ptr<ExportFile>> create(const std::string& path,
                                                                  Output& standard_output);
  virtual ~ExportFile() = default;
  /// False when no more can be written; `status` says why.
  virtual bool write(std::string_view bytes) = 0;
  [[nodiscard]] virtual Result<void> status() const = 0;
  virtual Result<void> commit() = 0;
};

}  // namespace holdfast::cli
