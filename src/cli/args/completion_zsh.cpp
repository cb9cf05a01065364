#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/args/completion.h"

namespace holdfast::cli {
namespace {

// Inside a single-quoted _arguments spec.
std::string spec_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out;
}

std::string action(Completes completes, const std::vector<std::string>& choices) {
  switch (completes) {
    case Completes::kFile: return "_files";
    case Completes::kStream: return "_holdfast_streams";
    case Completes::kChoices: {
      std::string list;
      for (const std::string& choice : choices) list += (list.empty() ? "" : " ") + choice;
      return "(" + list + ")";
    }
    case Completes::kNothing: break;
  }
  return " ";
}

std::string function_name(const Command& command) {
  std::string name = "_" + command.path();
  std::ranges::replace(name, ' ', '_');
  std::ranges::replace(name, '-', '_');
  return name;
}

std::string option_spec(const Option& option) {
  const std::string value = option.is_flag()
                                ? ""
                                : fmt::format(":{}:{}", spec_text(option.value_name),
                                              action(option.completes, option.choices));
  const std::string help = spec_text(option.help);
  const std::string equals = option.is_flag() ? "" : "=";
  if (option.letter == 0) return fmt::format("'{}{}[{}]{}'", option.name, equals, help, value);
  return fmt::format("'(-{0} {1})'{{-{0}{2},{1}{3}}}'[{4}]{5}'", option.letter, option.name,
                     option.is_flag() ? "" : "+", equals, help, value);
}

void write_function(const Command& command, std::string& out) {
  out += fmt::format("{}() {{\n", function_name(command));
  const bool group = !command.commands().empty();
  if (group)
    out += "  local curcontext=$curcontext state state_descr line\n  typeset -A opt_args\n";
  out += fmt::format("  _arguments {}-s -S \\\n", group ? "-C " : "");
  for (const Option* option : command.options_in_reach()) {
    out += "    " + option_spec(*option) + " \\\n";
  }
  out += "    '(-h --help)'{-h,--help}'[Show help]'";
  for (const Argument& argument : command.arguments()) {
    out += fmt::format(" \\\n    '{}{}:{}:{}'", argument.many ? "*" : "",
                       argument.many || argument.required ? "" : ":", spec_text(argument.name),
                       action(argument.completes, argument.choices));
  }
  if (!group) {
    out += "\n}\n\n";
    return;
  }
  out += " \\\n    '1:command:->command' \\\n    '*::argument:->argument'\n";
  out += "  case $state in\n    command)\n      local -a commands=(\n";
  for (const auto& below : command.commands()) {
    out += fmt::format("        '{}:{}'\n", below->name(), spec_text(below->summary()));
  }
  out += "      )\n      _describe command commands ;;\n    argument)\n      case $line[1] in\n";
  for (const auto& below : command.commands()) {
    out += fmt::format("        {}) {} ;;\n", below->name(), function_name(*below));
  }
  out += "      esac ;;\n  esac\n}\n\n";
  for (const auto& below : command.commands()) write_function(*below, out);
}

}  // namespace

std::string zsh_completion(const Command& root) {
  std::string out = R"sh(#compdef holdfast
# zsh completion for holdfast; made by `holdfast completion zsh`.

_holdfast_streams() {
  local store=${opt_args[--store]:-$_holdfast_store}
  local -a names=(${(f)"$(_call_program streams holdfast ${store:+--store ${(q)store}} stream ls --names 2>/dev/null)"})
  compadd -a names
}

)sh";
  write_function(root, out);
  out += R"sh(# The store that stands before the command's name.
_holdfast_store=
() {
  local -i i
  for ((i = 1; i < CURRENT; i++)); do
    [[ $words[i] == --store ]] && _holdfast_store=$words[i+1]
    [[ $words[i] == --store=* ]] && _holdfast_store=${words[i]#--store=}
  done
}
_holdfast "$@"
)sh";
  return out;
}

}  // namespace holdfast::cli
