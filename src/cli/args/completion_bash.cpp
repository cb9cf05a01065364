#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/args/completion.h"

namespace holdfast::cli {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

// What completes a value: a line of the script that sets COMPREPLY.
std::string reply(Completes completes, const std::vector<std::string>& choices) {
  switch (completes) {
    case Completes::kFile: return "compopt -o filenames; COMPREPLY=($(compgen -f -- \"$cur\"))";
    case Completes::kStream: return "_holdfast_streams";
    case Completes::kChoices:
      return fmt::format("COMPREPLY=($(compgen -W \"{}\" -- \"$cur\"))", joined(choices));
    case Completes::kNothing: break;
  }
  return ":";
}

template <typename Visit>
void each_command(const Command& command, const Visit& visit) {
  visit(command);
  for (const auto& below : command.commands()) each_command(*below, visit);
}

std::string option_words(const Command& command) {
  std::vector<std::string> words{"--help"};
  for (const Option* option : command.options_in_reach()) words.push_back(option->name);
  return joined(words);
}

// case lines "(key):--limit|(key):-n" for options whose next word is their value.
std::string value_cases(const Command& root) {
  std::string out;
  each_command(root, [&](const Command& command) {
    for (const Option& option : command.options()) {
      if (option.is_flag()) continue;
      const std::string key = command.route();
      const std::string deeper = command.commands().empty() ? "" : "*";
      std::string pattern = fmt::format("\"{}\"{}:{}", key, deeper, option.name);
      if (option.letter != 0) pattern += fmt::format("|\"{}\"{}:-{}", key, deeper, option.letter);
      out += fmt::format("    {}) {}; return 0 ;;\n", pattern,
                         reply(option.completes, option.choices));
    }
  });
  return out;
}

std::string argument_cases(const Command& root) {
  std::string out;
  each_command(root, [&](const Command& command) {
    std::size_t place = 0;
    for (const Argument& argument : command.arguments()) {
      const std::string at = argument.many ? "*" : std::to_string(place);
      out += fmt::format("    \"{}\":{}) {} ;;\n", command.route(), at,
                         reply(argument.completes, argument.choices));
      ++place;
    }
    if (command.commands().empty()) return;
    std::vector<std::string> names;
    for (const auto& below : command.commands()) names.push_back(below->name());
    out += fmt::format("    \"{}\":*) COMPREPLY=($(compgen -W \"{}\" -- \"$cur\")) ;;\n",
                       command.route(), joined(names));
  });
  return out;
}

std::string key_list(const Command& root) {
  std::string out;
  each_command(root, [&](const Command& command) {
    if (command.parent() != nullptr) out += (out.empty() ? "\"" : "|\"") + command.route() + "\"";
  });
  return out;
}

// Names of options, with their letters, that take the next word.
std::string valued_names(const Command& root) {
  std::string out;
  each_command(root, [&](const Command& command) {
    for (const Option& option : command.options()) {
      if (option.is_flag()) continue;
      out += (out.empty() ? "" : "|") + option.name;
      if (option.letter != 0) out += fmt::format("|-{}", option.letter);
    }
  });
  return out;
}

std::string option_cases(const Command& root) {
  std::string out;
  each_command(root, [&](const Command& command) {
    out += fmt::format("      \"{}\") COMPREPLY=($(compgen -W \"{}\" -- \"$cur\")) ;;\n",
                       command.route(), option_words(command));
  });
  return out;
}

}  // namespace

std::string bash_completion(const Command& root) {
  std::string out =
      R"sh(# bash completion for holdfast; made by `holdfast completion bash`.

_holdfast_streams() {
  local IFS=$'\n'
  COMPREPLY=($(compgen -W "$("${words[0]}" ${store:+"--store=$store"} stream ls --names 2>/dev/null)" -- "$cur"))
}

_holdfast() {
  local cur prev words cword
  COMPREPLY=()
  if declare -F _get_comp_words_by_ref >/dev/null; then
    _get_comp_words_by_ref -n =: cur prev words cword
  else
    words=("${COMP_WORDS[@]}") cword=$COMP_CWORD
    cur=${words[cword]} prev=${words[cword - 1]}
  fi
  # Walk the words before the cursor: which command is this, and how many arguments has it?
  local key= store= place=0 i word longer
  for ((i = 1; i < cword; i++)); do
    word=${words[i]}
    case $word in
      --store=*) store=${word#--store=} ;;
)sh";
  out += fmt::format("      {})\n", valued_names(root));
  out += R"sh(        [[ $word == --store ]] && store=${words[i + 1]}
        ((i++)) ;;
      -*) ;;
      *)
        longer="${key:+$key }$word"
        case $longer in
)sh";
  out += fmt::format("          {}) key=$longer place=0 ;;\n", key_list(root));
  out += R"sh(          *) ((place++)) ;;
        esac ;;
    esac
  done
  case "$key:$prev" in
)sh";
  out += value_cases(root);
  out += R"sh(  esac
  if [[ $cur == -* ]]; then
    case $key in
)sh";
  out += option_cases(root);
  out += R"sh(    esac
    return 0
  fi
  case "$key:$place" in
)sh";
  out += argument_cases(root);
  out += R"sh(  esac
  if declare -F __ltrim_colon_completions >/dev/null; then __ltrim_colon_completions "$cur"; fi
  return 0
}

complete -F _holdfast holdfast
)sh";
  return out;
}

}  // namespace holdfast::cli
