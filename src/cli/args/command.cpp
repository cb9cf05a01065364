#include "cli/args/command.h"

#include <algorithm>

#include <fmt/format.h>

#include <holdfast/check.h>

namespace holdfast::cli {

Result<int> Command::run(Context&) {
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("'{}' needs a command: see '{} --help'", path(), path()));
}

std::string Command::path() const {
  return parent_ == nullptr ? name_ : parent_->path() + " " + name_;
}

std::string Command::route() const {
  if (parent_ == nullptr) return {};
  const std::string above = parent_->route();
  return above.empty() ? name_ : above + " " + name_;
}

Command* Command::find(std::string_view name) const {
  const auto found =
      std::ranges::find_if(commands_, [&](const auto& command) { return command->name() == name; });
  return found == commands_.end() ? nullptr : found->get();
}

const Option* Command::find_option(std::string_view name) const {
  for (const Command* command = this; command != nullptr; command = command->parent_) {
    for (const Option& option : command->options_) {
      const bool by_letter = name.size() == 2 && name[1] == option.letter && name[0] == '-';
      if (option.name == name || by_letter) return &option;
    }
  }
  return nullptr;
}

std::vector<const Option*> Command::options_in_reach() const {
  std::vector<const Option*> all;
  for (const Command* command = this; command != nullptr; command = command->parent_) {
    for (const Option& option : command->options_) all.push_back(&option);
  }
  return all;
}

Command& Command::add(std::unique_ptr<Command> command) {
  HOLDFAST_CHECK(arguments_.empty(), "a command that has commands takes no arguments");
  command->parent_ = this;
  commands_.push_back(std::move(command));
  return *commands_.back();
}

Command& Command::describe(std::string paragraph) {
  description_.push_back(std::move(paragraph));
  return *this;
}

Command& Command::example(std::string does, std::string line) {
  examples_.push_back({std::move(does), std::move(line)});
  return *this;
}

Option& Command::flag(std::string_view names, std::string help, bool& target) {
  return add_option(names, {}, std::move(help), [&target](std::string_view, std::string_view) {
    target = true;
    return Result<void>{};
  });
}

Option& Command::add_option(std::string_view names, std::string value_name, std::string help,
                            SetValue set) {
  Option option;
  if (names.size() > 3 && names[2] == ',') {
    option.letter = names[1];
    names.remove_prefix(3);
  }
  HOLDFAST_CHECK(names.starts_with("--"), "an option's name begins with two dashes");
  option.name = names;
  option.value_name = std::move(value_name);
  option.help = std::move(help);
  option.set = std::move(set);
  options_.push_back(std::move(option));
  return options_.back();
}

Argument& Command::add_argument(std::string name, std::string help, SetValue set) {
  HOLDFAST_CHECK(arguments_.empty() || !arguments_.back().many,
                 "only the last argument takes many values");
  Argument argument;
  argument.name = std::move(name);
  argument.help = std::move(help);
  argument.set = std::move(set);
  arguments_.push_back(std::move(argument));
  return arguments_.back();
}

}  // namespace holdfast::cli
