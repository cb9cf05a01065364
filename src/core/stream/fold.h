// Folding: consecutive JSON lines that are equal but for their member "delta" become one line.
//
//   {"type":"text","turn":"t1","delta":"Hel"}      \.   {"type":"text","turn":"t1","delta":"Hello"}
//   {"type":"text","turn":"t1","delta":"lo"}       /
//
// A line folds if it is one JSON object that has exactly one top-level member written "delta" whose
// value is a string. Two lines fold together if the bytes before that string's contents and after
// them are equal; the contents are joined as they stand, escapes and all. Everything else passes
// unchanged, byte for byte.
//
// Invariants
//   - A folded line stands for [offset, next): reading on from `next` misses and repeats nothing.
//   - Lines never grow over `line_bytes_max` by folding: a longer run gives several lines.
//   - A page ends where its reader says; a run that goes on is then begun anew on the next page. So
//     for every way of paging, the deltas of each run, joined, are the same.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/ids.h>

namespace holdfast::core {

/// Where the contents of a line's top-level string member "delta" lie: [begin, end), without the
/// quotes. Nothing if the line does not fold.
struct DeltaPlace {
  std::size_t begin = 0;
  std::size_t end = 0;
};
[[nodiscard]] std::optional<DeltaPlace> find_delta(std::string_view line);

/// One line as it came out, in Folder::bytes().
struct FoldedLine {
  Offset offset{};
  Offset next{};
  std::size_t begin = 0;
  std::size_t size = 0;
};

/// Folds one page. Push the lines in order, then finish().
class Folder {
 public:
  explicit Folder(std::size_t line_bytes_max = std::size_t{1} << 20)
      : line_bytes_max_{line_bytes_max} {}

  void push(std::string_view line, Offset offset, Offset next);
  /// Whether the line would be joined to the one before it.
  [[nodiscard]] bool joins(std::string_view line) const;
  /// Completes the last line.
  void finish();

  /// Lines completed so far (finish() completes the last).
  [[nodiscard]] const std::vector<FoldedLine>& lines() const { return lines_; }
  /// How many lines there would be if it were finished now.
  [[nodiscard]] std::size_t line_count() const { return lines_.size() + (open_ ? 1 : 0); }
  /// All lines' bytes, back to back.
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  // Whether `line` has the open line's prefix and suffix around a well-formed string's contents.
  [[nodiscard]] bool joins(std::string_view line, DeltaPlace& place) const;

  std::size_t line_bytes_max_;
  std::string bytes_;
  std::vector<FoldedLine> lines_;
  bool open_ = false;       // the last line may still grow: its suffix is not in bytes_ yet
  FoldedLine line_{};       // the open line
  std::size_t prefix_ = 0;  // how many of its bytes stand before the delta's contents
  std::string suffix_;      // what stands after them
};

}  // namespace holdfast::core
