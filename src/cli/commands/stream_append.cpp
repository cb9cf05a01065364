// `stream append`: chunks from the command line, or from standard input as they come.
#include <unistd.h>

#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/context.h"
#include "cli/input/line_reader.h"
#include "cli/output/text.h"

namespace holdfast::cli {
namespace {

class Append final : public Command {
 public:
  Append() : Command{"append", "Append chunks"} {
    describe(
        "All chunks given as arguments go in one commit: all or none. With '-' each line of "
        "standard input is a chunk; lines that arrive together share a commit, and none waits for "
        "others.");
    describe(
        "A producer may repeat itself: give --producer and the --seq of the first append, and "
        "what was taken before is recognised and not doubled. The arguments are one append; of "
        "standard input each line is one, so its sequence counts up with the lines.");
    argument("NAME", "The stream.", name_).completes = Completes::kStream;
    Argument& chunks =
        argument("CHUNK", "Chunks, kept byte for byte; '-' for standard input.", chunks_);
    chunks.required = false;
    chunks.many = true;
    flag("--raw", "With '-': all of standard input is one chunk, newlines included.", raw_);
    flag("--close", "Close the stream after the last chunk.", close_);
    flag("--create", "Make the store and the stream if they are missing.", create_);
    option("--content-type", "TYPE",
           "Refuse unless the stream has this type; with --create, make it so.", content_type_);
    option("--producer", "ID", "Who appends.", producer_);
    option("--epoch", "N", "The producer's epoch: a higher one fences lower ones out.", epoch_);
    option("--seq", "N", "The producer's number for the first append.", seq_);
    option("--stream-seq", "SEQ",
           "Refuse unless this is greater, as bytes, than the last one given.", stream_seq_);
    option("--expect-tail", "N", "Refuse unless the stream ends at this offset.", expected_tail_);
    example("Two chunks, in one commit", "holdfast stream append chat/42 hello world");
    example("What a program prints, as it prints it", "./agent | holdfast stream append chat/42 -");
    example("Safe to repeat",
            "holdfast stream append chat/42 done --producer agent-1 --epoch 3 --seq 17");
  }

  [[nodiscard]] Result<void> validate() const override {
    if (chunks_.empty() && !close_) {
      return fail(ErrorCode::kInvalidArgument,
                  "nothing to append: give chunks, '-' for standard input, or --close");
    }
    if (raw_ && !from_input()) {
      return fail(ErrorCode::kInvalidArgument,
                  "--raw is about standard input: give '-' as the only chunk");
    }
    if (producer_.empty() && (epoch_ || seq_)) {
      return fail(ErrorCode::kInvalidArgument,
                  "--epoch and --seq belong to a producer: give --producer ID, too");
    }
    if (!stream_seq_.empty() && from_input() && !raw_) {
      return fail(ErrorCode::kInvalidArgument,
                  "--stream-seq is one append's: with lines of standard input use --producer");
    }
    return {};
  }

  Result<int> run(Context& context) override {
    auto opened = context.open(create_ ? Access::kCreate : Access::kWrite);
    if (!opened) return fail(std::move(opened.error()));
    auto stream = find(context, *opened);
    if (!stream) return fail(std::move(stream.error()));
    const auto done = from_input() ? append_input(*stream) : append_arguments(*stream);
    if (!done) return fail(done.error());
    JsonObject object;
    object.add("name", name_).add("first", first_.value_or(Offset{}).value);
    object.add("next", next_.value).add("chunks", appended_).add("duplicates", duplicates_);
    object.add("closed", closed_);
    context.report(summary(), object);
    return 0;
  }

 private:
  [[nodiscard]] bool from_input() const { return chunks_.size() == 1 && chunks_[0] == "-"; }

  Result<Stream> find(Context& context, OpenStore& opened) const {
    if (!create_) return context.open_stream(opened, name_);
    auto there = opened.streams.open(name_);
    if (there || there.error().code != ErrorCode::kNotFound) return there;
    StreamOptions options;
    options.content_type = content_type_;
    auto made = opened.streams.create(name_, options);
    if (!made) return fail(std::move(made.error()));
    return std::move(made->stream);
  }

  AppendOptions options_at(std::uint64_t append) const {
    AppendOptions options;
    options.content_type = content_type_;
    options.stream_seq = stream_seq_;
    options.expected_tail = append == 0 || !expected_tail_ ? expected_tail_ : next_;
    if (!producer_.empty()) {
      options.producer = Producer{producer_, epoch_.value_or(0), seq_.value_or(0) + append};
    }
    return options;
  }

  Result<void> append(Stream& stream, std::span<const BytesView> chunks,
                      const AppendOptions& options) {
    auto appended = stream.append(chunks, options);
    if (!appended) return fail(std::move(appended.error()));
    if (appended->duplicate) {
      duplicates_ += chunks.size();
    } else {
      appended_ += chunks.size();
      if (!first_) first_ = appended->first;
    }
    next_ = appended->next;
    closed_ = appended->closed;
    return {};
  }

  Result<void> append_arguments(Stream& stream) {
    const std::vector<BytesView> chunks(chunks_.begin(), chunks_.end());
    AppendOptions options = options_at(0);
    options.close = close_;
    return append(stream, chunks, options);
  }

  Result<void> append_input(Stream& stream) {
    LineReader input{STDIN_FILENO, "standard input"};
    if (raw_) {
      auto all = input.all();
      if (!all) return fail(std::move(all.error()));
      const BytesView chunk{*all};
      AppendOptions options = options_at(0);
      options.close = close_;
      return append(stream, {&chunk, 1}, options);
    }
    constexpr std::size_t kTogether = 1024;
    // A producer's line must have the same number however the lines arrive.
    const std::size_t together = producer_.empty() ? kTogether : 1;
    for (std::uint64_t appends = 0;; ++appends) {
      const std::uint64_t before = input.lines();
      auto lines = input.next(together);
      if (!lines) return fail(std::move(lines.error()));
      if (lines->empty()) break;
      if (auto ok = append(stream, *lines, options_at(appends)); !ok) {
        Error error = std::move(ok.error());
        error.message =
            fmt::format("standard input, {}: {}", lines_text(before, lines->size()), error.message);
        return fail(std::move(error));
      }
    }
    if (!close_) {
      if (appended_ + duplicates_ == 0) return say_tail(stream);
      return {};
    }
    auto closed = stream.close();
    if (!closed) return fail(std::move(closed.error()));
    next_ = closed->next;
    closed_ = true;
    return {};
  }

  // There was no line: what stands is what stood.
  Result<void> say_tail(const Stream& stream) {
    auto state = stream.tail();
    if (!state) return fail(std::move(state.error()));
    next_ = state->tail;
    closed_ = state->closed;
    return {};
  }

  static std::string lines_text(std::uint64_t before, std::size_t count) {
    return count == 1
               ? fmt::format("line {}", before + 1)
               : fmt::format("lines {} to {}, none of which was taken", before + 1, before + count);
  }

  [[nodiscard]] std::string summary() const {
    std::string text = fmt::format("appended {}", count_of(appended_, "chunk"));
    if (duplicates_ > 0)
      text += fmt::format(", recognised {} sent before", count_text(duplicates_));
    text += fmt::format("; the tail is {}", next_.value);
    return closed_ ? text + ", closed" : text;
  }

  std::string name_;
  std::vector<std::string> chunks_;
  bool raw_ = false;
  bool close_ = false;
  bool create_ = false;
  std::string content_type_;
  std::string producer_;
  std::optional<std::uint64_t> epoch_;
  std::optional<std::uint64_t> seq_;
  std::string stream_seq_;
  std::optional<Offset> expected_tail_;
  // What came of it.
  std::optional<Offset> first_;
  Offset next_;
  std::uint64_t appended_ = 0;
  std::uint64_t duplicates_ = 0;
  bool closed_ = false;
};

}  // namespace

CommandPtr stream_append_command() { return std::make_unique<Append>(); }

}  // namespace holdfast::cli
