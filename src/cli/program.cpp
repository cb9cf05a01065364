#include "cli/program.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include <fmt/format.h>

#include "cli/args/help.h"
#include "cli/args/parse.h"
#include "cli/commands/commands.h"
#include "cli/version.h"

namespace holdfast::cli {
namespace {

class Root final : public Command {
 public:
  explicit Root(Globals& globals) : Command{"holdfast", "durable streams that many can follow"} {
    describe(
        "Holdfast keeps streams: logs of chunks that are appended to, read from any offset, and "
        "followed as they grow. They live in a store, one file that many processes may use at "
        "once; `serve` offers them over HTTP.");
    describe(
        "The store is --store PATH, else $HOLDFAST_STORE, else holdfast.db in the current "
        "directory. What a command prints goes to standard output; remarks, progress and errors "
        "go to standard error.");
    option("--store", "PATH", "The store's file.", globals.store).completes = Completes::kFile;
    Option& durability =
        option("--durability", "LEVEL",
               "When a commit counts: 'full' (default), after it is synced to disk; or 'relaxed', "
               "after it is written: killed processes lose nothing, a power cut may take the last "
               "moments.",
               globals.durability);
    durability.completes = Completes::kChoices;
    durability.choices = {"full", "relaxed"};
    flag("--json", "Print JSON: one object, or one a line for lists and chunks. Errors, too.",
         globals.json);
    flag("-V,--version", "Print the version.", globals.version);
    example("Put a file of JSON lines into a stream", "holdfast stream import chat/42 chat.jsonl");
    example("Follow it, here", "holdfast stream follow chat/42 --from -10");
    example("Follow it, from anywhere", "holdfast serve --port 4437");
  }
};

class Group final : public Command {
 public:
  using Command::Command;
};

void print_error(Context& context, const Error& error) {
  context.out().flush();
  if (context.json()) {
    context.err().write(error_json(error).line());
  } else {
    context.err().write(
        fmt::format("{} {}\n", context.err_style().red("holdfast:"), error.message));
  }
  context.err().flush();
}

// --json decides how an error is printed, so it must be known before the words are understood.
bool wants_json(const std::vector<std::string>& words) {
  const auto end = std::ranges::find(words, "--");
  return std::find(words.begin(), end, "--json") != end;
}

int finish(Context& context, int status) {
  context.out().flush();
  if (auto ok = context.out().status(); !ok) {
    print_error(context, ok.error());
    return exit_status(ok.error().code);
  }
  return status;
}

bool asks_version(const std::vector<std::string>& words) {
  return std::ranges::any_of(
             words, [](const std::string& word) { return word == "--version" || word == "-V"; }) &&
         std::ranges::all_of(words, [](const std::string& word) {
           return word == "--version" || word == "-V" || word == "--json";
         });
}

}  // namespace

std::unique_ptr<Command> make_tree(Globals& globals) {
  auto root = std::make_unique<Root>(globals);
  Command& stream =
      root->add(std::make_unique<Group>("stream", "Make, fill, read and follow streams"));
  for (CommandPtr (*make)() :
       {&stream_create_command, &stream_append_command, &stream_read_command,
        &stream_follow_command, &stream_tail_command, &stream_info_command, &stream_ls_command,
        &stream_close_command, &stream_trim_command, &stream_retain_command, &stream_fork_command,
        &stream_rm_command, &stream_import_command, &stream_export_command}) {
    stream.add(make());
  }
  Command& store = root->add(std::make_unique<Group>("store", "Look after a store's file"));
  for (CommandPtr (*make)() : {&store_info_command, &store_check_command, &store_seal_command,
                               &store_compact_command, &store_backup_command}) {
    store.add(make());
  }
  root->add(serve_command());
  root->add(completion_command(*root));
  root->add(man_command(*root));
  return root;
}

int run_program(const std::vector<std::string>& words) {
  // A reader that goes away, and a file-size limit, are seen where they are written to.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  Globals globals;
  const auto root = make_tree(globals);
  globals.json = wants_json(words);
  Context context{globals};

  if (asks_version(words)) {
    JsonObject object;
    object.add("version", version());
    context.report(fmt::format("holdfast {}", version()), object);
    return finish(context, 0);
  }
  if (words.empty()) {
    context.err().write(help_text(*root, context.err_style()));
    return exit_status(ErrorCode::kInvalidArgument);
  }
  auto parsed = parse(*root, words);
  if (!parsed) {
    print_error(context, parsed.error());
    return exit_status(parsed.error().code);
  }
  if (parsed->help) {
    context.out().write(help_text(*parsed->command, context.out_style()));
    return finish(context, 0);
  }
  auto status = parsed->command->run(context);
  if (!status) {
    print_error(context, status.error());
    return exit_status(status.error().code);
  }
  return finish(context, *status);
}

}  // namespace holdfast::cli
