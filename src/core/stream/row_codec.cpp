#include "core/stream/row_codec.h"

#include <fmt/format.h>

namespace holdfast::core {

RowWriter& RowWriter::number(std::uint64_t value) {
  while (value >= 0x80) {
    out_.push_back(static_cast<char>((value & 0x7F) | 0x80));
    value >>= 7;
  }
  out_.push_back(static_cast<char>(value));
  return *this;
}

RowWriter& RowWriter::text(std::string_view value) {
  number(value.size());
  out_.append(value);
  return *this;
}

RowReader::RowReader(std::string_view what, BytesView bytes, std::uint8_t version)
    : what_{what}, rest_{bytes}, version_{version} {
  if (rest_.empty()) {
    fault_ = Fault::kShort;
    return;
  }
  found_ = static_cast<std::uint8_t>(rest_[0]);
  rest_.remove_prefix(1);
  if (found_ != version_) fault_ = Fault::kVersion;
}

std::uint64_t RowReader::number() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; good() && shift < 64; shift += 7) {
    if (rest_.empty()) break;
    const auto byte = static_cast<std::uint8_t>(rest_[0]);
    rest_.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7Fu} << shift;
    if ((byte & 0x80) == 0) return value;
  }
  if (good()) fault_ = Fault::kShort;
  return 0;
}

std::string_view RowReader::text() {
  const std::uint64_t length = number();
  if (!good() || length > rest_.size()) {
    if (good()) fault_ = Fault::kShort;
    return {};
  }
  const auto value = rest_.substr(0, length);
  rest_.remove_prefix(length);
  return value;
}

Result<void> RowReader::finish() const {
  if (fault_ == Fault::kVersion && found_ > version_) {
    return fail(ErrorCode::kSchema,
                fmt::format("the row of {} has version {}, newer than this program's {}: use a "
                            "newer program",
                            what_, found_, version_));
  }
  if (fault_ != Fault::kNone || !rest_.empty()) {
    return fail(
        ErrorCode::kCorrupt,
        fmt::format("the row of {} cannot be read: its bytes are {}; check the store", what_,
                    fault_ == Fault::kNone ? "too many" : "cut short or of no version known"));
  }
  return {};
}

}  // namespace holdfast::core
