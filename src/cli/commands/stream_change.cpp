// `stream close`, `trim`, `fork` and `rm`.
#include <unistd.h>

#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/context.h"
#include "cli/output/text.h"
#include "core/log/names.h"

namespace holdfast::cli {
namespace {

class Close final : public Command {
 public:
  Close() : Command{"close", "Take no more chunks"} {
    describe(
        "For good: a stream is not opened again, and every follower comes to its end. Closing a "
        "closed stream changes nothing.");
    argument("NAME", "The stream.", name_).completes = Completes::kStream;
    example("End a chat", "holdfast stream close chat/42");
  }

  Result<int> run(Context& context) override {
    auto opened = context.open(Access::kWrite);
    if (!opened) return fail(std::move(opened.error()));
    auto stream = context.open_stream(*opened, name_);
    if (!stream) return fail(std::move(stream.error()));
    auto closed = stream->close();
    if (!closed) return fail(std::move(closed.error()));
    JsonObject object;
    object.add("name", name_).add("tail", closed->next.value).add("closed", true);
    context.report(fmt::format("closed '{}' at offset {}", name_, closed->next.value), object);
    return 0;
  }

 private:
  std::string name_;
};

class Trim final : public Command {
 public:
  Trim() : Command{"trim", "Drop the oldest chunks"} {
    describe(
        "Offsets stay as they are: what is left begins at --before. Chunks that a fork shares are "
        "kept for the fork.");
    argument("NAME", "The stream.", name_).completes = Completes::kStream;
    option("--before", "N", "Drop the chunks before this offset. Needed.", before_);
    example("Drop the first thousand chunks", "holdfast stream trim chat/42 --before 1000");
  }

  [[nodiscard]] Result<void> validate() const override {
    if (!before_) {
      return fail(ErrorCode::kInvalidArgument,
                  "'holdfast stream trim' needs --before N, the first offset to keep");
    }
    return {};
  }

  Result<int> run(Context& context) override {
    auto opened = context.open(Access::kWrite);
    if (!opened) return fail(std::move(opened.error()));
    auto stream = context.open_stream(*opened, name_);
    if (!stream) return fail(std::move(stream.error()));
    if (auto ok = stream->trim(*before_); !ok) return fail(std::move(ok.error()));
    auto state = stream->tail();
    if (!state) return fail(std::move(state.error()));
    JsonObject object;
    object.add("name", name_).add("first", state->first.value).add("tail", state->tail.value);
    context.report(fmt::format("'{}' now holds {}, from offset {}", name_,
                               count_of(state->tail - state->first, "chunk"), state->first.value),
                   object);
    return 0;
  }

 private:
  std::string name_;
  std::optional<Offset> before_;
};

class Fork final : public Command {
 public:
  Fork() : Command{"fork", "Make a stream that shares another's past"} {
    describe(
        "By reference, at once, however long the past is. What either takes in later, the other "
        "does not see; the source may be deleted.");
    argument("SOURCE", "The stream to leave from.", source_).completes = Completes::kStream;
    argument("NAME", "The new stream.", name_);
    option("--at", "N", "Share the chunks before this offset (default: all there are now).", at_);
    option("--content-type", "TYPE", "Media type, if not the source's.", content_type_);
    example("Try another ending", "holdfast stream fork chat/42 chat/42-b --at 120");
  }

  Result<int> run(Context& context) override {
    auto opened = context.open(Access::kWrite);
    if (!opened) return fail(std::move(opened.error()));
    StreamOptions options;
    options.content_type = content_type_;
    auto made = opened->streams.fork(source_, name_, {.at = at_}, options);
    if (!made) return fail(std::move(made.error()));
    auto info = made->stream.info();
    if (!info) return fail(std::move(info.error()));
    JsonObject object;
    object.add("created", made->created).add("stream", stream_json(*info));
    context.report(made->created ? fmt::format("forked '{}' at offset {} into '{}'", source_,
                                               info->fork_offset.value, name_)
                                 : fmt::format("'{}' is that fork already", name_),
                   object);
    return 0;
  }

 private:
  std::string source_;
  std::string name_;
  std::optional<Offset> at_;
  std::string content_type_;
};

// One line from standard input, which is a terminal.
std::string read_answer() {
  std::string line;
  char c = 0;
  while (::read(STDIN_FILENO, &c, 1) == 1 && c != '\n') line += c;
  return line;
}

class Rm final : public Command {
 public:
  Rm() : Command{"rm", "Delete streams with all their chunks"} {
    describe("Asks first when it runs on a terminal. What forks share is kept for the forks.");
    Argument& names = argument("NAME", "The streams.", names_);
    names.many = true;
    names.completes = Completes::kStream;
    flag("-y,--yes", "Do not ask.", yes_);
    example("Delete without being asked", "holdfast stream rm chat/42 --yes");
  }

  Result<int> run(Context& context) override {
    auto opened = context.open(Access::kWrite);
    if (!opened) return fail(std::move(opened.error()));
    // All must be there before any goes.
    for (const std::string& name : names_) {
      auto stream = context.open_stream(*opened, name);
      if (!stream) return fail(std::move(stream.error()));
      auto state = stream->tail();
      if (!state) return fail(std::move(state.error()));
      if (!yes_ && ::isatty(STDIN_FILENO) == 1 && !agreed(context, name, *state)) {
        return fail(ErrorCode::kCancelled, "nothing was deleted");
      }
    }
    for (const std::string& name : names_) {
      if (auto ok = opened->streams.remove(name); !ok) return fail(std::move(ok.error()));
      JsonObject object;
      object.add("deleted", name);
      context.report(fmt::format("deleted '{}'", name), object);
    }
    return 0;
  }

 private:
  static bool agreed(Context& context, const std::string& name, const LogState& state) {
    context.err().write(fmt::format("Delete '{}' with its {}? [y/N] ", name,
                                    count_of(state.tail - state.first, "chunk")));
    context.err().flush();
    const std::string answer = read_answer();
    return answer == "y" || answer == "Y" || answer == "yes";
  }

  std::vector<std::string> names_;
  bool yes_ = false;
};

}  // namespace

CommandPtr stream_close_command() { return std::make_unique<Close>(); }
CommandPtr stream_trim_command() { return std::make_unique<Trim>(); }
CommandPtr stream_fork_command() { return std::make_unique<Fork>(); }
CommandPtr stream_rm_command() { return std::make_unique<Rm>(); }

}  // namespace holdfast::cli
