// `stream export`: a stream into a file, the exact reverse of import.
#include <limits>

#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/context.h"
#include "cli/interrupt.h"
#include "cli/output/export_file.h"
#include "cli/output/text.h"

namespace holdfast::cli {
namespace {

class Export final : public Command {
 public:
  Export() : Command{"export", "Write a stream into a file"} {
    describe(
        "One chunk a line, as import reads them; with --json one object a line, with offsets. The "
        "file appears when it is whole, in the place of one that was there. A name that ends with "
        ".zst is compressed.");
    argument("NAME", "The stream.", name_).completes = Completes::kStream;
    Argument& file = argument("FILE", "Where to; '-' (default) is standard output.", file_);
    file.required = false;
    file.completes = Completes::kFile;
    option("--from", "WHERE", "Where to begin, as for `read`.", from_);
    flag("--force",
         "Write chunks that hold newlines, too: importing the file would make several of each.",
         force_);
    flag("--progress", "Say how far it is every few seconds, also when not on a terminal.",
         progress_);
    example("A copy to keep", "holdfast stream export chat/42 chat-42.jsonl.zst");
    example("With offsets, for a program", "holdfast --json stream export chat/42 > chat-42.jsonl");
  }

  Result<int> run(Context& context) override {
    Interrupt interrupt{to_file() ? -1 : context.out().fd()};
    auto opened = context.open(Access::kRead);
    if (!opened) return fail(std::move(opened.error()));
    auto stream = context.open_stream(*opened, name_);
    if (!stream) return fail(std::move(stream.error()));
    auto state = stream->tail();
    if (!state) return fail(std::move(state.error()));
    auto file = ExportFile::create(file_, context.out());
    if (!file) return fail(std::move(file.error()));

    ProgressMeter meter{
        context.err(), context.err_style(),
        to_file() || progress_ ? context.meter_mode(progress_) : ProgressMeter::Mode::kNone,
        "export " + name_, "chunk"};
    auto written = write_all(context, *stream, **file, interrupt, meter, *state);
    meter.clear();
    if (!written) return fail(std::move(written.error()));
    if (!to_file()) return 0;
    if (auto ok = (*file)->commit(); !ok) return fail(std::move(ok.error()));
    JsonObject object;
    object.add("name", name_).add("path", file_).add("chunks", chunks_).add("bytes", bytes_);
    object.add("next", next_.value);
    context.report(fmt::format("exported {} ({}) of '{}' to {}", count_of(chunks_, "chunk"),
                               bytes_text(bytes_), name_, file_),
                   object);
    return 0;
  }

 private:
  [[nodiscard]] bool to_file() const { return !file_.empty() && file_ != "-"; }

  // What was there when the export began: a stream that grows meanwhile must not keep it going.
  Result<void> write_all(Context& context, const Stream& stream, ExportFile& file,
                         const Interrupt& interrupt, ProgressMeter& meter, const LogState& state) {
    ReadOptions options;
    options.from = from_;
    for (;;) {
      auto chunks = stream.read(options);
      if (!chunks) return fail(std::move(chunks.error()));
      for (const Chunk& chunk : chunks->items) {
        if (auto ok = write(file, chunk, context.json()); !ok) return ok;
        if (chunk.next >= state.tail) return {};
      }
      next_ = chunks->next;
      if (chunks->at_tail || interrupt.cause() == Interrupt::Cause::kReaderGone) return {};
      if (interrupt.requested()) {
        return fail(ErrorCode::kCancelled,
                    to_file() ? fmt::format("the export was interrupted: {} was not written", file_)
                              : std::string{"the export was interrupted"});
      }
      meter.update(next_.value - state.first.value, state.tail - state.first);
      options.from = From{next_};
    }
  }

  Result<void> write(ExportFile& file, const Chunk& chunk, bool json) {
    if (json) {
      file.write(chunk_json(chunk).line());
    } else {
      if (!force_ && chunk.bytes.find('\n') != BytesView::npos) {
        return fail(ErrorCode::kInvalidArgument,
                    fmt::format("the chunk at offset {} of '{}' holds a newline, so that a file of "
                                "lines cannot give it back: use --json, or --force to write it so",
                                chunk.offset.value, name_));
      }
      file.write(chunk.bytes);
      file.write("\n");
    }
    next_ = chunk.next;
    bytes_ += chunk.bytes.size();
    ++chunks_;
    return file.status();
  }

  std::string name_;
  std::string file_;
  From from_;
  bool force_ = false;
  bool progress_ = false;
  // What came of it.
  std::uint64_t chunks_ = 0;
  std::uint64_t bytes_ = 0;
  Offset next_;
};

}  // namespace

CommandPtr stream_export_command() { return std::make_unique<Export>(); }

}  // namespace holdfast::cli
