// `stream follow`: what is there, then what comes, until the stream is closed or one is stopped.
#include <fmt/format.h>

#include <limits>
#include <optional>

#include "cli/commands/chunk_printer.h"
#include "cli/commands/commands.h"
#include "cli/context.h"
#include "cli/interrupt.h"

namespace holdfast::cli {
namespace {

class Follow final : public Command {
 public:
  Follow() : Command{"follow", "Print chunks as they come"} {
    describe(
        "Prints what is there from --from on, then each chunk as soon as it is committed, by this "
        "or any other process. While nothing comes it uses no processor time.");
    describe(
        "It ends when the stream is closed, which it says on standard error; after --limit "
        "chunks; on an interrupt; or when nobody reads its output any more. Each of these is a "
        "success.");
    argument("NAME", "The stream.", name_).completes = Completes::kStream;
    option("--from", "WHERE",
           "Where to begin: an offset, -N for the last N chunks, 'beginning' or 'tail' (default).",
           from_);
    option("-n,--limit", "N", "End after so many chunks.", left_);
    flag("--folded", "Merge consecutive deltas of what is there already, as `read` does.", folded_);
    flag("--with-offsets", "Print each chunk's offset and a tab before it.", form_.with_offsets);
    flag("--raw", "Print no newline after chunks.", form_.raw);
    example("What comes from now on", "holdfast stream follow chat/42 --from tail");
    example("The last ten chunks and what comes", "holdfast stream follow chat/42 --from -10");
    example("Wait for one chunk", "holdfast stream follow jobs --limit 1");
  }

  Result<int> run(Context& context) override {
    Interrupt interrupt{context.out().fd()};  // before the store starts its threads
    auto opened = context.open(Access::kRead);
    if (!opened) return fail(std::move(opened.error()));
    auto stream = context.open_stream(*opened, name_);
    if (!stream) return fail(std::move(stream.error()));
    form_.json = context.json();
    if (folded_) {
      if (auto ok = catch_up(context, *stream); !ok) return fail(std::move(ok.error()));
      if (left_ == 0 || !context.out().ok()) return 0;
    }
    auto follower = stream->follow({.from = from_});
    if (!follower) return fail(std::move(follower.error()));
    interrupt.on_stop([&] { follower->stop(); });
    print_all(context, *follower);
    interrupt.on_stop({});

    context.out().flush();
    if (follower->error() != nullptr) return fail(*follower->error());
    if (follower->closed()) say_closed(context, follower->cursor());
    return 0;
  }

 private:
  // The folded part: from `from_` to the tail, after which the follower takes over.
  Result<void> catch_up(Context& context, const Stream& stream) {
    for (;;) {
      auto chunks = stream.read({.from = from_, .folded = true});
      if (!chunks) return fail(std::move(chunks.error()));
      for (const Chunk& chunk : chunks->items) {
        if (left_ == 0 || !print_chunk(context.out(), chunk, form_)) return {};
        --left_;
      }
      from_ = From{chunks->next};
      if (chunks->at_tail) return {};
    }
  }

  // What can be had without waiting is gathered; nothing is held back while waiting.
  void print_all(Context& context, Follower& follower) {
    while (left_ > 0) {
      auto chunk = follower.try_next();
      if (!chunk) {
        if (!context.out().flush()) return;
        chunk = follower.next();
      }
      if (!chunk || !print_chunk(context.out(), *chunk, form_)) return;
      --left_;
    }
  }

  void say_closed(Context& context, Offset cursor) const {
    if (context.json()) {
      JsonObject end;
      end.add("name", name_).add("cursor", cursor.value);
      JsonObject object;
      object.add("closed", end);
      context.err().write(object.line());
    } else {
      context.note(fmt::format("'{}' is closed: it ends at offset {}", name_, cursor.value));
    }
  }

  std::string name_;
  From from_ = From::tail();
  std::uint64_t left_ = std::numeric_limits<std::uint64_t>::max();  // --limit, counted down
  bool folded_ = false;
  ChunkForm form_;
};

}  // namespace

CommandPtr stream_follow_command() { return std::make_unique<Follow>(); }

}  // namespace holdfast::cli
