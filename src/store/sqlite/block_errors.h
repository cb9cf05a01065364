// What the parts of the SQLite store share about blocks and rows: ranges of keys, checksums, and
// the errors that name a broken one.
#pragma once

#include <cstdint>
#include <string_view>

#include <holdfast/store.h>

#include "core/log/block.h"

namespace holdfast::store {

/// The lowest and the highest key that a block of this log can have.
[[nodiscard]] constexpr core::BlockKey first_key(std::uint64_t id) {
  return core::BlockKey::make(id, {});
}
[[nodiscard]] constexpr core::BlockKey last_key(std::uint64_t id) {
  return {first_key(id + 1).value - 1};
}

/// `kCorrupt`, naming log and record, or the offset where the block begins.
[[nodiscard]] Error block_error(std::string_view home, std::string_view log, core::BlockKey key,
                                const core::BlockFault& fault);
/// `kCorrupt`: a log without any block.
[[nodiscard]] Error no_tail_block(std::string_view home, std::string_view log);
/// `kCorrupt`: a row whose checksum does not match.
[[nodiscard]] Error row_error(std::string_view space, std::string_view key);

/// Covers all of a row.
[[nodiscard]] std::uint64_t row_checksum(std::string_view space, std::string_view key,
                                         std::string_view home, std::uint64_t version,
                                         BytesView value) noexcept;

}  // namespace holdfast::store
