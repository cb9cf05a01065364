#include "core/stream/import_mark.h"

#include "core/stream/row_codec.h"

namespace holdfast::core {
namespace {

constexpr std::uint8_t kVersion = 1;

}  // namespace

Bytes encode_import_mark(const ImportMark& mark) {
  RowWriter writer{kVersion};
  writer.number(mark.bytes).number(mark.lines).number(mark.hash_low).number(mark.hash_high);
  writer.number(mark.open_line ? 1 : 0).number(mark.done ? 1 : 0);
  return std::move(writer).take();
}

Result<ImportMark> decode_import_mark(BytesView bytes) {
  RowReader reader{"an import's progress", bytes, kVersion};
  ImportMark mark;
  mark.bytes = reader.number();
  mark.lines = reader.number();
  mark.hash_low = reader.number();
  mark.hash_high = reader.number();
  mark.open_line = reader.number() != 0;
  mark.done = reader.number() != 0;
  if (auto good = reader.finish(); !good) return fail(std::move(good.error()));
  return mark;
}

}  // namespace holdfast::core
