// `stream import`: a file's lines into a stream, each once, however often it is cut off.
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/context.h"
#include "cli/input/source.h"
#include "cli/interrupt.h"
#include "cli/output/text.h"
#include "engine/streams/importer.h"

namespace holdfast::cli {
namespace {

bool named_as_json_lines(std::string_view path) {
  if (path.ends_with(".zst")) path.remove_suffix(4);
  return path.ends_with(".jsonl") || path.ends_with(".ndjson");
}

class Import final : public Command {
 public:
  Import() : Command{"import", "Put the lines of a file into a stream"} {
    describe(
        "Each line is a chunk, byte for byte, without its newline. The store and the stream are "
        "made if they are missing. A name that ends with .zst is decompressed.");
    describe(
        "Run again, it goes on where it was cut off, whether by a kill, an interrupt, a full disk "
        "or a bad line; no line is doubled. A file that has grown since gives its new lines; a "
        "file imported before gives none.");
    argument("NAME", "The stream.", name_).completes = Completes::kStream;
    Argument& file = argument("FILE", "The file; '-' (default) is standard input.", file_);
    file.required = false;
    file.completes = Completes::kFile;
    Option& format =
        option("--format", "FORMAT",
               "'jsonl': each line must be one JSON value; 'raw': any bytes. Default: jsonl for "
               "names that end with .jsonl or .ndjson, else raw.",
               format_);
    format.completes = Completes::kChoices;
    format.choices = {"jsonl", "raw"};
    option("--content-type", "TYPE",
           "Media type of the stream if it is made here. Default: application/json for jsonl, "
           "else application/octet-stream.",
           content_type_);
    flag("--progress", "Say how far it is every few seconds, also when not on a terminal.",
         progress_);
    example("A chat", "holdfast stream import chat/42 chat.jsonl");
    example("What another program prints",
            "journalctl -o json | holdfast stream import log/web - --format jsonl");
  }

  Result<int> run(Context& context) override {
    Interrupt interrupt;  // before the store starts its threads
    auto source = Source::open(file_, interrupt.fd());
    if (!source) return fail(std::move(source.error()));
    auto opened = context.open(Access::kCreate);
    if (!opened) return fail(std::move(opened.error()));
    auto stream = find(opened->streams);
    if (!stream) return fail(std::move(stream.error()));

    ProgressMeter meter{context.err(), context.err_style(), context.meter_mode(progress_),
                        "import " + name_};
    bool comparing = true;
    engine::ImportOptions options;
    options.format = json_lines() ? engine::LineFormat::kJsonLines : engine::LineFormat::kRaw;
    options.progress = [&](const engine::ImportProgress& at) {
      if (comparing) meter.start_at((*source)->taken());
      comparing = at.comparing;
      meter.update((*source)->taken(), (*source)->size(), at.imported);
    };
    auto report = engine::import_lines(*stream, **source, options);
    meter.clear();
    if (!report) return explain(std::move(report.error()), **source, *stream);
    say(context, *report, meter.elapsed());
    return 0;
  }

 private:
  [[nodiscard]] bool json_lines() const {
    return format_ == FormatChoice::kAuto ? named_as_json_lines(file_)
                                          : format_ == FormatChoice::kJsonLines;
  }

  Result<Stream> find(Streams& streams) const {
    auto there = streams.open(name_);
    if (there || there.error().code != ErrorCode::kNotFound) return there;
    StreamOptions options;
    options.content_type = content_type_;
    if (content_type_.empty() && json_lines()) options.content_type = "application/json";
    auto made = streams.create(name_, options);
    if (!made) return fail(std::move(made.error()));
    return std::move(made->stream);
  }

  // Names the input, and says what is there already and how to go on.
  [[nodiscard]] std::unexpected<Error> explain(Error error, const Source& source,
                                               const Stream& stream) const {
    const auto state = stream.tail();
    const std::string there = state
                                  ? fmt::format("'{}' ends at offset {}", name_, state->tail.value)
                                  : fmt::format("'{}' keeps what was committed", name_);
    if (error.code == ErrorCode::kCancelled) {
      error.message = fmt::format(
          "the import was interrupted; {}. To go on, run the same command "
          "again: no line is doubled",
          there);
    } else if (error.code == ErrorCode::kInvalidArgument || error.code == ErrorCode::kTooLarge) {
      if (!error.message.starts_with(source.name())) {
        error.message = fmt::format("{}: {}", source.name(), error.message);
      }
    } else {
      error.message =
          fmt::format("{}. {}; run the same command again to go on", error.message, there);
    }
    return fail(std::move(error));
  }

  void say(Context& context, const engine::ImportReport& report,
           std::chrono::milliseconds took) const {
    JsonObject object;
    object.add("name", name_).add("lines", report.lines_imported);
    object.add("linesBefore", report.lines_before).add("bytes", report.bytes);
    object.add("tail", report.next.value);
    std::string text;
    if (report.lines_imported == 0) {
      text =
          fmt::format("nothing new: all {} were imported before", count_of(report.lines, "line"));
    } else {
      text = fmt::format("imported {} into '{}' in {}", count_of(report.lines_imported, "line"),
                         name_, span_text(took));
      if (report.lines_before > 0) {
        text +=
            fmt::format(", after {} of an earlier import", count_of(report.lines_before, "line"));
      }
    }
    context.report(fmt::format("{}; the tail is {}", text, report.next.value), object);
  }

  std::string name_;
  std::string file_;
  FormatChoice format_ = FormatChoice::kAuto;
  std::string content_type_;
  bool progress_ = false;
};

}  // namespace

CommandPtr stream_import_command() { return std::make_unique<Import>(); }

}  // namespace holdfast::cli
