#pragma once

#include <string_view>

namespace holdfast::cli {

/// The program's version, "0.1.0".
[[nodiscard]] std::string_view version() noexcept;

}  // namespace holdfast::cli
