// Reads a command line into the argument tree.
//
// Grammar: names of commands lead down the tree; then arguments by their place and options in any
// order. "--name VALUE" and "--name=VALUE" are the same, an empty value included; "-nVALUE" and
// "-n VALUE", too. The word after an option that takes a value is that value, whatever it looks
// like ("--from -5"). After "--" nothing is an option. "-" alone is an argument. Values reach their
// place byte for byte: nothing is split, unescaped or trimmed.
#pragma once

#include <span>
#include <string>

#include <holdfast/result.h>

#include "cli/args/command.h"

namespace holdfast::cli {

/// What a command line asks for.
struct Parsed {
  Command* command = nullptr;  ///< the one named; never null
  bool help = false;           ///< its help was asked for: values were not checked
};

/// Parses the words after the program's name, and sets what they give. Errors are
/// `kInvalidArgument` and name the word, the command and where to read on.
[[nodiscard]] Result<Parsed> parse(Command& root, std::span<const std::string> words);

}  // namespace holdfast::cli
