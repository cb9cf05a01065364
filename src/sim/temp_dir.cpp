#include "sim/temp_dir.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <holdfast/check.h>

namespace holdfast::sim {

TempDir::TempDir() : path_{(std::filesystem::temp_directory_path() / "holdfast-XXXXXX").string()} {
  HOLDFAST_CHECK(::mkdtemp(path_.data()) != nullptr, "no temporary directory can be made");
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TempDir::file(std::string_view name) const { return path_ + '/' + std::string{name}; }

}  // namespace holdfast::sim
