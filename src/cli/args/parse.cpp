#include "cli/args/parse.h"

#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/args/suggest.h"
#include "core/log/names.h"

namespace holdfast::cli {
namespace {

std::unexpected<Error> refuse(const Command& command, std::string_view problem,
                              std::string_view meant = {}) {
  std::string message{problem};
  if (!meant.empty()) message += fmt::format(": did you mean '{}'?", meant);
  message +=
      fmt::format("{}'{} --help' shows what there is", meant.empty() ? ": " : " ", command.path());
  return fail(ErrorCode::kInvalidArgument, std::move(message));
}

class Parser {
 public:
  Parser(Command& root, std::span<const std::string> words) : command_{&root}, words_{words} {}

  Result<Parsed> run() {
    for (; at_ < words_.size(); ++at_) {
      const std::string& word = words_[at_];
      if (auto ok = take(word); !ok) return fail(std::move(ok.error()));
      if (help_) return Parsed{finish_path(), true};
    }
    if (auto ok = check_complete(); !ok) return fail(std::move(ok.error()));
    if (auto ok = command_->validate(); !ok) return fail(std::move(ok.error()));
    return Parsed{command_, false};
  }

 private:
  Result<void> take(const std::string& word) {
    if (!options_ended_ && word == "--") {
      options_ended_ = true;
      return {};
    }
    if (!options_ended_ && word.starts_with("--")) return take_long(word);
    if (!options_ended_ && word.size() > 1 && word[0] == '-') return take_letters(word);
    if (!command_->commands().empty()) return take_command(word);
    return take_argument(word);
  }

  Result<void> take_command(const std::string& word) {
    Command* next = command_->find(word);
    if (next == nullptr) {
      std::vector<std::string> names;
      for (const auto& command : command_->commands()) names.push_back(command->name());
      return refuse(
          *command_,
          fmt::format("'{}' has no command '{}'", command_->path(), core::printable(word)),
          nearest(word, names));
    }
    command_ = next;
    return {};
  }

  Result<void> take_argument(const std::string& word) {
    const auto& arguments = command_->arguments();
    if (filled_ >= arguments.size()) {
      return refuse(*command_, fmt::format("'{}' takes no more arguments, but got '{}'",
                                           command_->path(), core::printable(word)));
    }
    const Argument& argument = arguments[filled_];
    if (!argument.many) ++filled_;
    if (argument.many) filled_many_ = true;
    return argument.set(argument.name, word);
  }

  Result<void> take_long(const std::string& word) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    if (name == "--help" && equals == std::string::npos) {
      help_ = true;
      return {};
    }
    const Option* option = command_->find_option(name);
    if (option == nullptr) return unknown_option(name);
    if (equals == std::string::npos) return take_option(*option, name);
    if (option->is_flag()) {
      return refuse(*command_, fmt::format("{} takes no value, but got '{}'", name,
                                           core::printable(word.substr(equals + 1))));
    }
    return option->set(name, std::string_view{word}.substr(equals + 1));
  }

  // "-n", "-n5", and flags run together: "-ab".
  Result<void> take_letters(const std::string& word) {
    for (std::size_t i = 1; i < word.size(); ++i) {
      const std::string name{'-', word[i]};
      if (name == "-h") {
        help_ = true;
        return {};
      }
      const Option* option = command_->find_option(name);
      if (option == nullptr) return unknown_option(i == 1 ? word : name);
      const bool last = i + 1 == word.size();
      if (last) return take_option(*option, name);
      if (!option->is_flag()) return option->set(name, std::string_view{word}.substr(i + 1));
      if (auto ok = option->set(name, {}); !ok) return ok;
    }
    return {};
  }

  // An option whose value, if it takes one, is the next word.
  Result<void> take_option(const Option& option, std::string_view name) {
    if (option.is_flag()) return option.set(name, {});
    if (at_ + 1 == words_.size()) {
      return refuse(*command_, fmt::format("{} needs a value, {}", name, option.value_name));
    }
    ++at_;
    return option.set(name, words_[at_]);
  }

  Result<void> unknown_option(std::string_view name) {
    std::vector<std::string> names{"--help"};
    for (const Option* option : command_->options_in_reach()) names.push_back(option->name);
    auto refused = refuse(
        *command_, fmt::format("'{}' has no option '{}'", command_->path(), core::printable(name)),
        nearest(name, names));
    if (command_->arguments().empty()) return refused;
    refused.error().message += "; for an argument that begins with a dash, put '--' before it";
    return refused;
  }

  Result<void> check_complete() const {
    if (!command_->commands().empty()) {
      std::string names;
      for (const auto& command : command_->commands()) {
        names += (names.empty() ? "" : ", ") + command->name();
      }
      return refuse(*command_,
                    fmt::format("'{}' needs a command, one of {}", command_->path(), names));
    }
    const auto& arguments = command_->arguments();
    if (filled_ < arguments.size() && arguments[filled_].required && !filled_many_) {
      return refuse(*command_, fmt::format("'{}' needs {}, {}", command_->path(),
                                           arguments[filled_].name, arguments[filled_].help));
    }
    return {};
  }

  // After "--help": names of commands that follow still lead down.
  Command* finish_path() {
    for (++at_; at_ < words_.size(); ++at_) {
      Command* next = command_->find(words_[at_]);
      if (next == nullptr) break;
      command_ = next;
    }
    return command_;
  }

  Command* command_;
  std::span<const std::string> words_;
  std::size_t at_ = 0;
  std::size_t filled_ = 0;      // arguments that have their value
  bool filled_many_ = false;    // the last one, which takes many, has at least one
  bool options_ended_ = false;  // "--" was seen
  bool help_ = false;
};

}  // namespace

Result<Parsed> parse(Command& root, std::span<const std::string> words) {
  return Parser{root, words}.run();
}

}  // namespace holdfast::cli
