// Blocks: how records lie in bytes. A log is a row of blocks, each with some consecutive records.
//
//   header (56 bytes, little-endian)                         body
//   [checksum 8][version 1][flags 1][0 2][count 4]           hot:    count times
//   [log first 8][epoch 8][time 8]                                   [length varint][check
//   4][payload] [payload bytes before 8][raw bytes 4][payload bytes 4]   sealed: compressed
//                                                                    count lengths, then payloads
//
// Invariants
//   - The checksum covers everything after itself and is bound to the block's key, so a block that
//     stands in another's place is found as well as a flipped bit.
//   - Decoding never trusts a length: any bytes give records or a fault.
//   - The newest block of a log, its tail block, speaks for the log: first offset, epoch, closed.
//   In
//     older blocks these three are leftovers.
//
// Left to others: compression (the store compresses and hands the raw body over), where blocks lie.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/store.h>

namespace holdfast::core {

inline constexpr std::size_t kBlockHeaderBytes = 56;
/// A hot block grows up to here, so that it and its key fill one page of 4,096 bytes.
inline constexpr std::size_t kHotBlockBytesMax = 4'050;
inline constexpr std::uint64_t kLogIdsMax = (1ull << 30) - 1;

/// Where a block lies: its log and its first record's offset, sorted by both.
struct BlockKey {
  std::uint64_t value = 0;

  static constexpr unsigned kOffsetBits = 33;  // a tail may be kLogOffsetsMax itself
  [[nodiscard]] static constexpr BlockKey make(std::uint64_t log_id, Offset first) {
    return {(log_id << kOffsetBits) | first.value};
  }
  [[nodiscard]] constexpr std::uint64_t log_id() const { return value >> kOffsetBits; }
  [[nodiscard]] constexpr Offset first() const { return {value & ((1ull << kOffsetBits) - 1)}; }
  friend constexpr auto operator<=>(BlockKey, BlockKey) = default;
};

/// What a block says beside its records.
struct BlockHeader {
  bool closed = false;
  bool sealed = false;
  std::uint32_t count = 0;
  Offset log_first{};
  Epoch epoch{};
  Timestamp time{};                ///< of the last append in it
  std::uint64_t bytes_before = 0;  ///< payload bytes ever appended to the log before this block
  std::uint32_t raw_bytes = 0;     ///< length of the body, uncompressed
  std::uint32_t payload_bytes = 0;

  /// The state of the log whose tail block this is.
  [[nodiscard]] LogState state(BlockKey key) const {
    return {log_first, key.first() + count, closed, epoch, bytes_before + payload_bytes};
  }
};

/// What is broken in a block, and which record, if it can be told.
struct BlockFault {
  std::string what;
  std::optional<Offset> record{};
};

/// Checks a block whole and returns its header.
[[nodiscard]] std::expected<BlockHeader, BlockFault> open_block(BlockKey key, BytesView block);

/// What a read may still take.
struct ReadBudget {
  std::size_t records = 0;
  std::size_t bytes = 0;
  bool first = true;   ///< the first record is taken whatever its size
  bool spent = false;  ///< a record did not fit any more

  /// Takes a record of this size, or says no and is spent.
  bool take(std::size_t size) {
    if (!first && (records == 0 || size > bytes)) {
      spent = true;
      return false;
    }
    first = false;
    records -= records > 0 && size <= bytes ? 1 : records;  // nothing follows one that is too large
    bytes -= size < bytes ? size : bytes;
    return true;
  }
};

/// Adds the records from `from` on to `out` as views into `raw`, until the budget is spent. `raw`
/// is the body of a block that open_block() found sound, decompressed if it is sealed.
[[nodiscard]] std::expected<void, BlockFault> decode_records(BlockKey key,
                                                             const BlockHeader& header,
                                                             BytesView raw, Offset from,
                                                             ReadBudget& budget,
                                                             std::vector<Record>& out);

/// A hot block in memory that takes more records.
class HotBlock {
 public:
  HotBlock() = default;
  /// An empty one. `header` gives what is known of the log; its counts start at zero.
  HotBlock(BlockKey key, const BlockHeader& header);
  /// Takes over a block that open_block() found sound.
  HotBlock(BlockKey key, const BlockHeader& header, BytesView block);

  [[nodiscard]] BlockKey key() const { return key_; }
  [[nodiscard]] BlockHeader& header() { return header_; }
  [[nodiscard]] const BlockHeader& header() const { return header_; }
  [[nodiscard]] LogState state() const { return header_.state(key_); }
  [[nodiscard]] std::size_t bytes() const { return bytes_.size(); }

  /// Whether one more record of this size keeps it within a page. An empty block takes any record.
  [[nodiscard]] bool fits(std::size_t record_bytes) const;
  void add(BytesView record);
  /// Becomes the empty block that comes after itself.
  void advance();
  /// The block as it is to be stored; valid until the next change.
  [[nodiscard]] BytesView finish();

 private:
  BlockKey key_{};
  BlockHeader header_{};
  std::string bytes_{};
};

/// Adds records to the two halves of a sealed block's raw body: lengths, then payloads.
void add_sealed(const std::vector<Record>& records, std::string& lengths, std::string& payloads);
/// A sealed block around a compressed body. `header.raw_bytes` and the rest must be set.
[[nodiscard]] std::string sealed_block(BlockKey key, BlockHeader header, BytesView compressed);

/// Bound to `key` as blocks' checksums are; for rows beside the logs.
[[nodiscard]] std::uint64_t bytes_checksum(BytesView bytes, std::uint64_t key) noexcept;

}  // namespace holdfast::core
