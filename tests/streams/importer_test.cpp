// Imports: each line once, however often the import is cut off and begun again.
#include "engine/streams/importer.h"
#include "cut_store.h"
#include "streams_fixture.h"

namespace holdfast::suite {
namespace {

using engine::import_lines;
using engine::ImportOptions;
using engine::ImportReport;
using engine::LineFormat;

// A text, handed out in small pieces.
class TextSource final : public engine::LineSource {
 public:
  explicit TextSource(std::string text, bool can_seek = true, std::size_t piece = 100)
      : text_{std::move(text)}, can_seek_{can_seek}, piece_{piece} {}
  Result<std::size_t> read(char* to, std::size_t size) override {
    const std::size_t count = text_.copy(to, std::min(size, piece_), at_);
    at_ += count;
    given_ += count;
    return count;
  }
  [[nodiscard]] bool seekable() const override { return can_seek_; }
  Result<void> seek(std::uint64_t byte) override {
    at_ = static_cast<std::size_t>(byte);
    return {};
  }
  [[nodiscard]] std::size_t given() const { return given_; }

 private:
  std::string text_;
  bool can_seek_;
  std::size_t piece_;
  std::size_t at_ = 0;
  std::size_t given_ = 0;
};

std::string text_of(const Texts& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

class StreamImports : public StreamSuite {
 protected:
  static Result<ImportReport> import(const Stream& stream, const std::string& text,
                                     bool can_seek = true, const ImportOptions& options = {}) {
    TextSource source{text, can_seek};
    return import_lines(stream, source, options);
  }
};

TEST_P(StreamImports, EveryLineIsAChunkExactly) {
  const Stream stream = make("s");
  const std::string text = std::string{"one\n\n two \r\n\0\xff\nlast", 19};
  const ImportReport report = ok(import(stream, text));
  EXPECT_EQ(report.lines, 5u);
  EXPECT_EQ(report.lines_imported, 5u);
  EXPECT_EQ(report.bytes, text.size());
  EXPECT_EQ(report.next, Offset{5});
  EXPECT_EQ(all(stream), (Texts{"one", "", " two \r", std::string{"\0\xff", 2}, "last"}));
  EXPECT_EQ(ok(import(make("empty"), "")).lines, 0u);
}

TEST_P(StreamImports, BatchesAreOneCommitEach) {
  const Stream stream = make("s");
  const std::string text = text_of(make_session(24'539, 5));
  std::uint64_t told = 0;
  ImportOptions options;
  options.progress = [&](const engine::ImportProgress& progress) {
    EXPECT_GE(progress.imported, told);
    told = progress.imported;
  };
  const auto cost = cost_of([&] { ok(import(stream, text, true, options)); });
  EXPECT_EQ(told, 24'539u);
  EXPECT_LE(cost.commits, 27u);
  EXPECT_LE(cost.reads, 0u);
  EXPECT_LE(cost.rows_read, cost.commits + 5) << "a commit may check its row's version";
}

TEST_P(StreamImports, TheSameAgainIsNothingToDo) {
  for (const bool can_seek : {true, false}) {
    const Stream stream = make(can_seek ? "seek" : "pipe");
    const std::string text = text_of(make_session(3'000, 6));
    ok(import(stream, text, can_seek));
    const auto cost = cost_of([&] {
      const ImportReport again = ok(import(stream, text, can_seek));
      EXPECT_EQ(again.lines, 3'000u);
      EXPECT_EQ(again.lines_before, 3'000u);
      EXPECT_EQ(again.lines_imported, 0u);
      EXPECT_EQ(again.bytes, text.size());
    });
    EXPECT_EQ(cost.commits, 0u);
    EXPECT_EQ(all(stream).size(), 3'000u);
  }
}

TEST_P(StreamImports, AFileThatHasGrownGivesOnlyItsNewLines) {
  for (const bool can_seek : {true, false}) {
    const Stream stream = make(can_seek ? "seek" : "pipe");
    const Texts lines = make_session(2'000, 7);
    for (const std::size_t count : {1u, 2u, 500u, 1'500u, 2'000u}) {
      const Texts so_far{lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(count)};
      ok(import(stream, text_of(so_far), can_seek));
      EXPECT_EQ(all(stream), so_far);
    }
    // An older state of it is known as well.
    const Texts half{lines.begin(), lines.begin() + 500};
    EXPECT_EQ(ok(import(stream, text_of(half), can_seek)).lines_imported, 0u);
    EXPECT_EQ(all(stream), lines);
  }
}

TEST_P(StreamImports, OtherContentIsAnotherImport) {
  for (const bool can_seek : {true, false}) {
    const Stream stream = make(can_seek ? "seek" : "pipe");
    ok(import(stream, "a\nb\nc\n", can_seek));
    EXPECT_EQ(ok(import(stream, "x\nb\nc\n", can_seek)).lines_imported, 3u);
    // It begins alike and parts before the place that was reached.
    EXPECT_EQ(ok(import(stream, "a\nb\nC\nd\n", can_seek)).lines_imported, 4u);
    EXPECT_EQ(all(stream), (Texts{"a", "b", "c", "x", "b", "c", "a", "b", "C", "d"}));
    // It goes on from the first import, and not as the third did.
    EXPECT_EQ(ok(import(stream, "a\nb\nc\ne\n", can_seek)).lines_imported, 1u);
    EXPECT_EQ(ok(import(stream, "a\nb\nC\nd\n", can_seek)).lines_imported, 0u);
  }
}

TEST_P(StreamImports, CutOffAnywhereAndBegunAgainNoLineIsLostOrDoubled) {
  const Texts lines = make_session(700, 8);
  ImportOptions options;
  options.batch_lines = 64;
  for (const bool can_seek : {true, false}) {
    for (std::uint64_t commits = 0; commits < 12; ++commits) {
      const std::string name = (can_seek ? "seek/" : "pipe/") + std::to_string(commits);
      make(name);
      {
        CutStore cut{store(), commits};
        Streams mortal{cut, clock(), Random{1}};
        (void)import(ok(mortal.open(name)), text_of(lines), can_seek, options);
      }
      const Stream stream = ok(streams().open(name));
      const std::size_t before = all(stream).size();
      EXPECT_EQ(before, std::min<std::size_t>(commits * 64, 700));
      const ImportReport rest = ok(import(stream, text_of(lines), can_seek, options));
      EXPECT_EQ(rest.lines_before, before);
      EXPECT_EQ(rest.lines_imported, 700 - before);
      ASSERT_EQ(all(stream), lines);
    }
  }
}

TEST_P(StreamImports, ALastLineWithoutNewlineCountsOnce) {
  const Stream stream = make("s");
  ok(import(stream, "a\nb"));
  EXPECT_EQ(ok(import(stream, "a\nb")).lines_imported, 0u);
  EXPECT_EQ(ok(import(stream, "a\nb\n")).lines_imported, 0u);
  EXPECT_EQ(ok(import(stream, "a\nb\nc")).lines_imported, 1u);
  EXPECT_EQ(ok(import(stream, "a\nb\nc\nd\n")).lines_imported, 1u);
  EXPECT_EQ(all(stream), (Texts{"a", "b", "c", "d"}));
  const Stream other = make("t");
  ok(import(other, "a\nb"));
  const Error grown = refused(import(other, "a\nbb\n"), ErrorCode::kConflict);
  EXPECT_EQ(grown.expected, 2u) << "the line";
  EXPECT_EQ(all(other), (Texts{"a", "b"}));
}

TEST_P(StreamImports, BadInputIsNamedByLineAndByteAndWhatWasGoodIsKept) {
  const Stream stream = make("s");
  ImportOptions options;
  options.format = LineFormat::kJsonLines;
  const Error error = refused(import(stream, "{\"a\":1}\n[2]\n{\"b\":nul}\n4\n", true, options),
                              ErrorCode::kInvalidArgument);
  EXPECT_EQ(error.expected, 3u) << "the line";
  EXPECT_EQ(error.actual, 17u) << "the byte of the input";
  EXPECT_NE(error.message.find("line 3"), std::string::npos) << error.message;
  EXPECT_EQ(all(stream), (Texts{"{\"a\":1}", "[2]"}));
  EXPECT_EQ(ok(import(stream, "{\"a\":1}\n[2]\n{\"b\":null}\n4\n", true, options)).lines_imported,
            2u);
  EXPECT_EQ(all(stream), (Texts{"{\"a\":1}", "[2]", "{\"b\":null}", "4"}));
  // A JSON stream is careful whatever was asked for.
  refused(import(make("json", {.content_type = "application/json"}), "x\n"),
          ErrorCode::kInvalidArgument);
}

TEST_P(StreamImports, ALineThatIsTooLongIsNamed) {
  const Stream stream = make("s");
  TextSource source{"short\n" + std::string(kRecordBytesMax + 1, 'x') + "\n", true, 1u << 20};
  const Error error = refused(import_lines(stream, source), ErrorCode::kTooLarge);
  EXPECT_EQ(error.expected, 2u);
  EXPECT_EQ(all(stream), (Texts{"short"}));
}

TEST_P(StreamImports, OfTwoAtOnceOneIsToldSo) {
  const Texts lines = make_session(500, 9);
  const Stream stream = make("s");
  ImportOptions inner;
  inner.batch_lines = 100;
  ImportOptions outer = inner;
  bool met = false;
  outer.progress = [&](const engine::ImportProgress& progress) {
    if (std::exchange(met, true) || progress.comparing) return;
    // Another process goes on from the first batch while this one is in the middle.
    ok(import(ok(streams().open("s")), text_of(lines), true, inner));
  };
  refused(import(stream, text_of(lines), true, outer), ErrorCode::kStale);
  EXPECT_EQ(all(stream), lines) << "no line twice";
}

TEST_P(StreamImports, AreForgottenWithTheirStream) {
  const Stream stream = make("s");
  ok(import(stream, "a\nb\n"));
  ok(streams().remove("s"));
  EXPECT_EQ(leftovers(store()), Texts{});
  EXPECT_EQ(ok(import(make("s"), "a\nb\n")).lines_imported, 2u);
}

HOLDFAST_OVER_ALL_STORES(StreamImports);

}  // namespace
}  // namespace holdfast::suite
