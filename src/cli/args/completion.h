// Scripts that teach a shell the argument tree. Names of streams are completed by calling the
// program itself (`stream ls --names`), with the --store that stands on the line.
#pragma once

#include <string>

#include "cli/args/command.h"

namespace holdfast::cli {

[[nodiscard]] std::string bash_completion(const Command& root);
[[nodiscard]] std::string zsh_completion(const Command& root);
[[nodiscard]] std::string fish_completion(const Command& root);

}  // namespace holdfast::cli
