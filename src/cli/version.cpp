#include "cli/version.h"

namespace holdfast::cli {

std::string_view version() noexcept { return HOLDFAST_VERSION; }

}  // namespace holdfast::cli
