// The argument tree: every command with its options, arguments, examples and what runs it.
//
// One tree, made once at start, is what the parser reads, and what help, the man page and the shell
// completions are printed from: they cannot disagree.
//
// Invariants
//   - A command either has commands of its own or can be run, never both.
//   - Only the last argument of a command takes many values.
//   - Options of a command hold for all commands below it, and may stand before or after their
//     names.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <holdfast/result.h>

#include "cli/args/values.h"

namespace holdfast::cli {

class Context;

/// What a shell may complete a value with.
enum class Completes : std::uint8_t { kNothing, kFile, kStream, kChoices };

/// Reads one value's text into its place; gets the name to use in errors.
using SetValue = std::function<Result<void>(std::string_view what, std::string_view text)>;

/// "--limit N" or, without a value's name, a flag.
struct Option {
  std::string name;        ///< "--limit"
  char letter = 0;         ///< 'n' for "-n"; 0 if it has none
  std::string value_name;  ///< "N"; empty for a flag
  std::string help;
  Completes completes = Completes::kNothing;
  std::vector<std::string> choices{};
  SetValue set;

  [[nodiscard]] bool is_flag() const { return value_name.empty(); }
};

/// What stands by its place: NAME, FILE.
struct Argument {
  std::string name;
  std::string help;
  bool required = true;
  bool many = false;
  Completes completes = Completes::kNothing;
  std::vector<std::string> choices{};
  SetValue set;
};

struct Example {
  std::string does;
  std::string line;
};

/// One command of the tree. The classes in commands/ derive from it, keep what was parsed in their
/// members, and are run at most once.
class Command {
 public:
  Command(std::string name, std::string summary)
      : name_{std::move(name)}, summary_{std::move(summary)} {}
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  virtual ~Command() = default;

  /// Does the command's work and returns the exit status.
  virtual Result<int> run(Context& context);
  /// Looks at the values together, before anything is opened: what does not go with what.
  [[nodiscard]] virtual Result<void> validate() const { return {}; }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& summary() const { return summary_; }
  /// Paragraphs, each one line of text.
  [[nodiscard]] const std::vector<std::string>& description() const { return description_; }
  [[nodiscard]] const std::vector<Option>& options() const { return options_; }
  [[nodiscard]] const std::vector<Argument>& arguments() const { return arguments_; }
  [[nodiscard]] const std::vector<Example>& examples() const { return examples_; }
  [[nodiscard]] const std::vector<std::unique_ptr<Command>>& commands() const { return commands_; }
  [[nodiscard]] const Command* parent() const { return parent_; }
  /// "holdfast stream read"
  [[nodiscard]] std::string path() const;
  /// The same without the program: "stream read"; empty for the program itself.
  [[nodiscard]] std::string route() const;
  /// The command of that name right below this one, or null.
  [[nodiscard]] Command* find(std::string_view name) const;
  /// The option called `name` ("--limit" or "-n") here or above, or null.
  [[nodiscard]] const Option* find_option(std::string_view name) const;
  /// All options that hold here, this command's first.
  [[nodiscard]] std::vector<const Option*> options_in_reach() const;

  /// Adds a command below this one; for making the tree.
  Command& add(std::unique_ptr<Command> command);
  Command& describe(std::string paragraph);
  Command& example(std::string does, std::string line);

 protected:
  /// Declares a flag; the target lives as long as the command.
  Option& flag(std::string_view names, std::string help, bool& target);
  /// Declares an option with a value: names are "--limit" or "-n,--limit".
  template <typename T>
  Option& option(std::string_view names, std::string value_name, std::string help, T& target) {
    return add_option(names, std::move(value_name), std::move(help), setter(target));
  }
  template <typename T>
  Argument& argument(std::string name, std::string help, T& target) {
    return add_argument(std::move(name), std::move(help), setter(target));
  }

 private:
  template <typename T>
  static SetValue setter(T& target) {
    return [&target](std::string_view what, std::string_view text) {
      return read_value(what, text, target);
    };
  }
  Option& add_option(std::string_view names, std::string value_name, std::string help,
                     SetValue set);
  Argument& add_argument(std::string name, std::string help, SetValue set);

  std::string name_;
  std::string summary_;
  std::vector<std::string> description_;
  std::vector<Option> options_;
  std::vector<Argument> arguments_;
  std::vector<Example> examples_;
  std::vector<std::unique_ptr<Command>> commands_;
  const Command* parent_ = nullptr;  // who owns this one
};

}  // namespace holdfast::cli
