// How rows of streams are written: a version byte, then numbers as LEB128 and strings with their
// length before them. Readers are total: any bytes give a value or an error, never a fault.
#pragma once

#include <cstdint>
#include <string_view>

#include <holdfast/bytes.h>
#include <holdfast/result.h>

namespace holdfast::core {

/// Builds a row's bytes.
class RowWriter {
 public:
  explicit RowWriter(std::uint8_t version) { out_.push_back(static_cast<char>(version)); }
  RowWriter& number(std::uint64_t value);
  RowWriter& text(std::string_view value);
  [[nodiscard]] Bytes take() && { return std::move(out_); }

 private:
  Bytes out_;
};

/// Takes a row's bytes apart. After a fault every further value is 0 or empty; ask finish() at the
/// end.
class RowReader {
 public:
  /// `what` names the row in errors; both are borrowed.
  RowReader(std::string_view what, BytesView bytes, std::uint8_t version);
  std::uint64_t number();
  std::string_view text();
  /// An error if anything was wrong: cut short, `kSchema` for a newer version, bytes left over.
  [[nodiscard]] Result<void> finish() const;
  [[nodiscard]] bool good() const { return fault_ == Fault::kNone; }

 private:
  enum class Fault : std::uint8_t { kNone, kShort, kVersion };
  std::string_view what_;
  BytesView rest_;
  std::uint8_t version_ = 0;
  std::uint8_t found_ = 0;
  Fault fault_ = Fault::kNone;
};

}  // namespace holdfast::core
