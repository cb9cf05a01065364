// How far an import has come: the row that is committed with each batch of its lines.
#pragma once

#include <cstdint>

#include <holdfast/bytes.h>
#include <holdfast/result.h>

namespace holdfast::core {

struct ImportMark {
  std::uint64_t bytes = 0;  ///< of the source, from its beginning
  std::uint64_t lines = 0;
  std::uint64_t hash_low = 0;  ///< XXH3, 128 bits, of those bytes
  std::uint64_t hash_high = 0;
  bool open_line = false;  ///< the last line had no newline
  bool done = false;       ///< the source ended here
  friend bool operator==(const ImportMark&, const ImportMark&) = default;
};

[[nodiscard]] Bytes encode_import_mark(const ImportMark& mark);
[[nodiscard]] Result<ImportMark> decode_import_mark(BytesView bytes);

}  // namespace holdfast::core
