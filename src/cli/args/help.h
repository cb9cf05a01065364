// Help texts, printed from the argument tree.
#pragma once

#include <cstddef>
#include <string>

#include "cli/args/command.h"
#include "cli/output/style.h"

namespace holdfast::cli {

/// "holdfast [OPTIONS] stream read NAME [CHUNK...]"
[[nodiscard]] std::string usage_line(const Command& command);
/// "-n, --limit N"
[[nodiscard]] std::string option_heading(const Option& option);
/// All about one command, wrapped to the style's width.
[[nodiscard]] std::string help_text(const Command& command, const Style& style);

}  // namespace holdfast::cli
