// `completion` and `man`: the argument tree in other forms.
#include "cli/args/completion.h"
#include "cli/args/man.h"
#include "cli/commands/commands.h"
#include "cli/context.h"
#include "cli/version.h"

namespace holdfast::cli {
namespace {

class Completion final : public Command {
 public:
  explicit Completion(const Command& root)
      : Command{"completion", "Print a shell's completion script"}, root_{root} {
    describe("Completes commands, options, files, and the names of the streams in the store.");
    Argument& shell = argument("SHELL", "bash, zsh or fish.", shell_);
    shell.completes = Completes::kChoices;
    shell.choices = {"bash", "zsh", "fish"};
    example("For this bash", "source <(holdfast completion bash)");
    example("For every zsh", "holdfast completion zsh > \"${fpath[1]}/_holdfast\"");
    example("For every fish",
            "holdfast completion fish > ~/.config/fish/completions/holdfast.fish");
  }

  [[nodiscard]] Result<void> validate() const override {
    if (shell_ == "bash" || shell_ == "zsh" || shell_ == "fish") return {};
    return fail(ErrorCode::kInvalidArgument,
                "SHELL wants 'bash', 'zsh' or 'fish', not '" + shell_ + "'");
  }

  Result<int> run(Context& context) override {
    context.out().write(shell_ == "bash"  ? bash_completion(root_)
                        : shell_ == "zsh" ? zsh_completion(root_)
                                          : fish_completion(root_));
    return 0;
  }

 private:
  const Command& root_;
  std::string shell_;
};

class Man final : public Command {
 public:
  explicit Man(const Command& root) : Command{"man", "Print the manual page"}, root_{root} {
    example("Read it", "holdfast man | man -l -");
  }

  Result<int> run(Context& context) override {
    context.out().write(man_page(root_, version()));
    return 0;
  }

 private:
  const Command& root_;
};

}  // namespace

CommandPtr completion_command(const Command& root) { return std::make_unique<Completion>(root); }
CommandPtr man_command(const Command& root) { return std::make_unique<Man>(root); }

}  // namespace holdfast::cli
