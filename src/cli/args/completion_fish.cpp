#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/args/completion.h"

namespace holdfast::cli {
namespace {

std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string values(Completes completes, const std::vector<std::string>& choices) {
  switch (completes) {
    case Completes::kFile: return " -F";
    case Completes::kStream: return " -f -a '(__holdfast_streams)'";
    case Completes::kChoices: {
      std::string list;
      for (const std::string& choice : choices) list += (list.empty() ? "" : " ") + choice;
      return " -f -a " + quoted(list);
    }
    case Completes::kNothing: break;
  }
  return " -f";
}

void write_command(const Command& command, std::string& valued, std::string& out) {
  const std::string key = command.route();
  const bool group = !command.commands().empty();
  for (const Option& option : command.options()) {
    std::string line = "complete -c holdfast";
    line += command.parent() == nullptr
                ? std::string{}
                : fmt::format(" -n '__holdfast_at {}{}'", key, group ? " --below" : "");
    line += " -l " + option.name.substr(2);
    if (option.letter != 0) line += fmt::format(" -s {}", option.letter);
    if (!option.is_flag()) {
      line += " -r" + values(option.completes, option.choices);
      valued += " " + option.name + (option.letter == 0 ? "" : fmt::format(" -{}", option.letter));
    }
    out += line + " -d " + quoted(option.help) + "\n";
  }
  for (const auto& below : command.commands()) {
    out += fmt::format("complete -c holdfast -n '__holdfast_at {}' -f -a {} -d {}\n",
                       key.empty() ? "\"\"" : key, below->name(), quoted(below->summary()));
  }
  std::size_t place = 0;
  for (const Argument& argument : command.arguments()) {
    if (argument.completes != Completes::kNothing) {
      out += fmt::format("complete -c holdfast -n '__holdfast_at {} --place {}'{}\n", key,
                         argument.many ? "any" : std::to_string(place),
                         values(argument.completes, argument.choices));
    }
    ++place;
  }
  for (const auto& below : command.commands()) write_command(*below, valued, out);
}

std::string group_names(const Command& root) {
  std::string out;
  for (const auto& below : root.commands()) {
    if (!below->commands().empty()) out += (out.empty() ? "" : " ") + below->name();
  }
  return out;
}

}  // namespace

std::string fish_completion(const Command& root) {
  std::string valued;
  std::string lines;
  write_command(root, valued, lines);
  std::string out = "# fish completion for holdfast; made by `holdfast completion fish`.\n\n";
  out += fmt::format("set -g __holdfast_valued{}\nset -g __holdfast_groups {}\n", valued,
                     group_names(root));
  out += R"(
# The words before the cursor that are neither options nor their values.
function __holdfast_words
    set -l tokens (commandline -opc)
    set -l skip 0
    for token in $tokens[2..-1]
        if test $skip = 1
            set skip 0
        else if contains -- $token $__holdfast_valued
            set skip 1
        else if not string match -q -- '-*' $token
            echo $token
        end
    end
end

# __holdfast_at [GROUP] [COMMAND] [--below] [--place N|any]: is the cursor at this command?
function __holdfast_at
    set -l key
    set -l below 0
    set -l place
    while set -q argv[1]
        switch $argv[1]
            case --below
                set below 1
            case --place
                set place $argv[2]
                set -e argv[1]
            case ''
            case '*'
                set -a key $argv[1]
        end
        set -e argv[1]
    end
    set -l words (__holdfast_words)
    set -l depth (count $key)
    for i in (seq $depth)
        test "$words[$i]" = "$key[$i]"; or return 1
    end
    set -l after (math (count $words) - $depth)
    if test -n "$place"
        test "$place" = any; or test $after = $place
        return
    end
    test $below = 1; and return 0
    # A group, or the program itself, is complete only where no command follows.
    if test $depth = 0; or contains -- "$key" $__holdfast_groups
        test $after = 0
        return
    end
    return 0
end

function __holdfast_streams
    set -l tokens (commandline -opc)
    set -l store
    for i in (seq 2 (count $tokens))
        if test "$tokens[$i]" = --store
            set store --store $tokens[(math $i + 1)]
        else if string match -q -- '--store=*' $tokens[$i]
            set store $tokens[$i]
        end
    end
    $tokens[1] $store stream ls --names 2>/dev/null
end

complete -c holdfast -f
complete -c holdfast -s h -l help -d 'Show help'
)";
  return out + lines;
}

}  // namespace holdfast::cli
