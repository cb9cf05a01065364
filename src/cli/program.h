// The program: its tree of commands, and how one run goes from words to an exit status.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/args/command.h"
#include "cli/context.h"

namespace holdfast::cli {

/// The whole argument tree; `globals` is where the program's own options go.
[[nodiscard]] std::unique_ptr<Command> make_tree(Globals& globals);

/// Runs one command line (without the program's name) and returns the exit status.
[[nodiscard]] int run_program(const std::vector<std::string>& words);

}  // namespace holdfast::cli
