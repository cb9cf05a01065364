// `stream read`: what is there, exactly as it was appended.
#include <algorithm>
#include <limits>

#include "cli/commands/chunk_printer.h"
#include "cli/commands/commands.h"
#include "cli/context.h"

namespace holdfast::cli {
namespace {

class Read final : public Command {
 public:
  Read() : Command{"read", "Print chunks, then end"} {
    describe(
        "Prints each chunk byte for byte, and a newline after it. What was imported line by line "
        "is printed as it was in the file.");
    argument("NAME", "The stream.", name_).completes = Completes::kStream;
    option("--from", "WHERE",
           "Where to begin: an offset, -N for the last N chunks, 'beginning' (what is oldest; "
           "default) or 'tail'.",
           from_);
    option("--to", "N", "Stop before this offset.", to_);
    option("-n,--limit", "N", "Print at most so many chunks.", limit_);
    flag("--folded",
         "Merge consecutive deltas: JSON lines that differ only in their member \"delta\" become "
         "one.",
         folded_);
    flag("--with-offsets", "Print each chunk's offset and a tab before it.", form_.with_offsets);
    flag("--raw", "Print no newline after chunks: binary chunks come out exactly.", form_.raw);
    example("Everything", "holdfast stream read chat/42 --from 0");
    example("The last ten chunks, with their offsets",
            "holdfast stream read chat/42 --from -10 --with-offsets");
    example("For a program", "holdfast --json stream read chat/42 --from 100 --limit 50");
  }

  Result<int> run(Context& context) override {
    auto opened = context.open(Access::kRead);
    if (!opened) return fail(std::move(opened.error()));
    auto stream = context.open_stream(*opened, name_);
    if (!stream) return fail(std::move(stream.error()));
    form_.json = context.json();

    ReadOptions options;
    options.from = from_;
    options.folded = folded_;
    std::uint64_t left = limit_;
    while (left > 0 && context.out().ok()) {
      const auto records =
          static_cast<std::size_t>(std::min<std::uint64_t>(left, ReadLimits{}.records_max));
      if (!folded_) options.limits.records_max = records;
      auto chunks = stream->read(options);
      if (!chunks) return fail(std::move(chunks.error()));
      for (const Chunk& chunk : chunks->items) {
        if (left == 0 || (to_ && chunk.offset >= *to_)) return 0;
        if (!print_chunk(context.out(), chunk, form_)) return 0;
        --left;
      }
      if (chunks->at_tail) break;
      options.from = From{chunks->next};
    }
    return 0;
  }

 private:
  std::string name_;
  From from_;
  std::optional<Offset> to_;
  std::uint64_t limit_ = std::numeric_limits<std::uint64_t>::max();
  bool folded_ = false;
  ChunkForm form_;
};

}  // namespace

CommandPtr stream_read_command() { return std::make_unique<Read>(); }

}  // namespace holdfast::cli
