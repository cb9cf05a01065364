// Importing lines into a stream, once each, however often the import is cut off and begun again.
//
// Every batch of lines is one commit, and in that commit stands a row that says how far the source
// has been taken: so many bytes, so many lines, the hash of all of them. A later import reads its
// source from the beginning and goes on at the farthest row whose hash its own content matches:
//
//   the same file again       nothing to do
//   it was cut off            goes on behind the last committed batch
//   the file has grown        only the new lines
//   other content             all of it
//
// Invariants: no line twice, none lost, order kept; memory is bounded by a batch and the longest
// line. Two imports of one content at once: one goes on, the other gets `kStale`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include <holdfast/result.h>
#include <holdfast/stream.h>

namespace holdfast::engine {

/// What is imported: lines, one chunk each, without their newline.
enum class LineFormat : std::uint8_t {
  kRaw,        ///< any bytes but a newline
  kJsonLines,  ///< each line one JSON value
};

/// Where the lines come from.
class LineSource {
 public:
  virtual ~LineSource() = default;
  /// Puts up to `size` bytes at `to`; 0 at the end.
  virtual Result<std::size_t> read(char* to, std::size_t size) = 0;
  /// Whether seek() can be called. What a source that cannot gives is kept in a temporary file
  /// while it is compared with what was imported before.
  [[nodiscard]] virtual bool seekable() const { return false; }
  /// Goes on reading at this byte.
  virtual Result<void> seek(std::uint64_t byte);
};

struct ImportProgress {
  std::uint64_t bytes = 0;     ///< of the source, taken or found to be there already
  std::uint64_t lines = 0;     ///< of the source, likewise
  std::uint64_t imported = 0;  ///< lines appended by this run
  bool comparing = false;      ///< still looking for the place to go on from
};

struct ImportOptions {
  /// JSON streams are always checked as kJsonLines.
  LineFormat format = LineFormat::kRaw;
  std::size_t batch_bytes = 256u << 10;
  std::size_t batch_lines = 1'000;
  /// Called after each batch, and now and then while comparing.
  std::function<void(const ImportProgress&)> progress{};
};

struct ImportReport {
  std::uint64_t bytes = 0;           ///< of the whole source
  std::uint64_t lines = 0;           ///< of the whole source
  std::uint64_t lines_before = 0;    ///< of them there already from earlier imports
  std::uint64_t lines_imported = 0;  ///< by this run
  Offset next{};                     ///< the stream's tail after the last line imported
};

/// Imports. Errors: those of the source; `kInvalidArgument` for a line that is not JSON and
/// `kTooLarge` for one over the limit (`expected` = its number from 1, `actual` = the byte of the
/// source from 0): the lines before it are kept; `kStale` if another import of this content is
/// under way; `kConflict` if the last line, imported without a newline, has since grown; those of
/// an append.
[[nodiscard]] Result<ImportReport> import_lines(const Stream& stream, LineSource& source,
                                                const ImportOptions& options = {});

}  // namespace holdfast::engine
