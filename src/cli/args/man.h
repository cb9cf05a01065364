// The manual page, printed from the argument tree in the man(7) macros.
#pragma once

#include <string>
#include <string_view>

#include "cli/args/command.h"

namespace holdfast::cli {

/// The whole program on one page, fit for share/man/man1/holdfast.1.
[[nodiscard]] std::string man_page(const Command& root, std::string_view version);

/// Text that roff prints as it is: backslashes, dashes, leading dots and quotes made harmless.
[[nodiscard]] std::string roff_escaped(std::string_view text);

}  // namespace holdfast::cli
