#include "core/log/block.h"

#include <bit>
#include <cstring>
#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <fmt/format.h>

#include <holdfast/check.h>

namespace holdfast::core {
namespace {

constexpr std::uint8_t kVersion = 1;
constexpr std::uint8_t kClosedFlag = 1;
constexpr std::uint8_t kSealedFlag = 2;
constexpr std::size_t kChecksumBytes = 8;
constexpr std::size_t kRecordCheckBytes = 4;

static_assert(std::endian::native == std::endian::little, "blocks are read as they lie");

template <typename T>
T load(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <typename T>
void store(char* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

// Spreads a key over all bits (the finisher of splitmix64, a bijection).
constexpr std::uint64_t spread(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

std::uint64_t block_checksum(BlockKey key, BytesView block) {
  return bytes_checksum(block.substr(kChecksumBytes), key.value);
}

std::uint32_t record_check(BlockKey key, std::uint32_t index, BytesView payload) {
  const std::uint64_t place = key.value + index;
  return static_cast<std::uint32_t>(XXH3_64bits(payload.data(), payload.size()) ^
                                    (place * 0x9e3779b97f4a7c15ULL >> 32));
}

std::size_t varint_bytes(std::size_t value) {
  std::size_t bytes = 1;
  for (; value >= 0x80; value >>= 7) ++bytes;
  return bytes;
}

void add_varint(std::string& to, std::size_t value) {
  for (; value >= 0x80; value >>= 7) to.push_back(static_cast<char>(value | 0x80));
  to.push_back(static_cast<char>(value));
}

// Reads a length; moves `at` behind it. No length reaches 2^28.
bool read_varint(const char*& at, const char* end, std::size_t& value) {
  if (at != end && static_cast<unsigned char>(*at) < 0x80) {
    value = static_cast<unsigned char>(*at++);
    return true;
  }
  value = 0;
  for (unsigned shift = 0; shift < 28 && at != end; shift += 7) {
    const auto byte = static_cast<unsigned char>(*at++);
    value |= static_cast<std::size_t>(byte & 0x7Fu) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

BlockHeader read_header(BytesView block) {
  const char* at = block.data();
  const auto flags = static_cast<std::uint8_t>(at[9]);
  return {.closed = (flags & kClosedFlag) != 0,
          .sealed = (flags & kSealedFlag) != 0,
          .count = load<std::uint32_t>(at + 12),
          .log_first = {load<std::uint64_t>(at + 16)},
          .epoch = {load<std::uint64_t>(at + 24)},
          .time = {load<std::int64_t>(at + 32)},
          .bytes_before = load<std::uint64_t>(at + 40),
          .raw_bytes = load<std::uint32_t>(at + 48),
          .payload_bytes = load<std::uint32_t>(at + 52)};
}

void write_header(char* at, const BlockHeader& header) {
  at[8] = static_cast<char>(kVersion);
  at[9] = static_cast<char>((header.closed ? kClosedFlag : 0) | (header.sealed ? kSealedFlag : 0));
  store<std::uint16_t>(at + 10, 0);
  store(at + 12, header.count);
  store(at + 16, header.log_first.value);
  store(at + 24, header.epoch.value);
  store(at + 32, header.time.ms);
  store(at + 40, header.bytes_before);
  store(at + 48, header.raw_bytes);
  store(at + 52, header.payload_bytes);
}

std::unexpected<BlockFault> broken(std::string what, std::optional<Offset> record = {}) {
  return std::unexpected{BlockFault{std::move(what), record}};
}

// Looks for the record that fails its own check in a hot block whose checksum does not match. The
// header may be what is broken, so nothing in it is believed.
std::optional<Offset> find_broken_record(BlockKey key, BytesView block) {
  const char* at = block.data() + kBlockHeaderBytes;
  const char* const end = block.data() + block.size();
  for (std::uint32_t index = 0; at != end; ++index) {
    std::size_t size = 0;
    const bool whole = read_varint(at, end, size) &&
                       static_cast<std::size_t>(end - at) >= kRecordCheckBytes &&
                       static_cast<std::size_t>(end - at) - kRecordCheckBytes >= size;
    if (!whole) return key.first() + index;
    const auto check = load<std::uint32_t>(at);
    at += kRecordCheckBytes;
    if (check != record_check(key, index, {at, size})) return key.first() + index;
    at += size;
  }
  return std::nullopt;
}

std::expected<void, BlockFault> decode_hot(BlockKey key, const BlockHeader& header, BytesView raw,
                                           Offset from, ReadBudget& budget,
                                           std::vector<Record>& out) {
  const char* at = raw.data();
  const char* const end = at + raw.size();
  Offset offset = key.first();
  const Offset stop = offset + header.count;
  for (; offset < stop; offset = offset + 1) {
    std::size_t size = 0;
    if (!read_varint(at, end, size) ||
        static_cast<std::size_t>(end - at) < size + kRecordCheckBytes) {
      return broken("a record runs past its block's end", offset);
    }
    at += kRecordCheckBytes;
    if (offset >= from) {
      if (!budget.take(size)) return {};
      out.push_back({offset, {at, size}});
    }
    at += size;
  }
  if (at != end) return broken("bytes follow the last record");
  return {};
}

std::expected<void, BlockFault> decode_sealed(BlockKey key, const BlockHeader& header,
                                              BytesView raw, Offset from, ReadBudget& budget,
                                              std::vector<Record>& out) {
  if (header.payload_bytes > raw.size()) return broken("it holds less than it says");
  const char* length_at = raw.data();
  const char* const lengths_end = raw.data() + (raw.size() - header.payload_bytes);
  const char* at = lengths_end;
  const char* const end = raw.data() + raw.size();
  Offset offset = key.first();
  const Offset stop = offset + header.count;
  for (; offset < stop; offset = offset + 1) {
    std::size_t size = 0;
    if (!read_varint(length_at, lengths_end, size) || static_cast<std::size_t>(end - at) < size) {
      return broken("a record runs past its block's end", offset);
    }
    if (offset >= from) {
      if (!budget.take(size)) return {};
      out.push_back({offset, {at, size}});
    }
    at += size;
  }
  if (at != end || length_at != lengths_end) return broken("bytes follow the last record");
  return {};
}

}  // namespace

std::uint64_t bytes_checksum(BytesView bytes, std::uint64_t key) noexcept {
  return XXH3_64bits(bytes.data(), bytes.size()) ^ spread(key);
}

std::expected<BlockHeader, BlockFault> open_block(BlockKey key, BytesView block) {
  if (block.size() < kBlockHeaderBytes) {
    return broken(fmt::format("it has {} bytes, less than its header", block.size()));
  }
  if (load<std::uint64_t>(block.data()) != block_checksum(key, block)) {
    const bool sealed = (static_cast<std::uint8_t>(block[9]) & kSealedFlag) != 0;
    return broken("its checksum does not match",
                  sealed ? std::nullopt : find_broken_record(key, block));
  }
  if (static_cast<std::uint8_t>(block[8]) != kVersion) {
    return broken(fmt::format("its format version is {}, not {}",
                              static_cast<unsigned>(static_cast<std::uint8_t>(block[8])),
                              kVersion));
  }
  const BlockHeader header = read_header(block);
  const std::size_t body = block.size() - kBlockHeaderBytes;
  if (!header.sealed && header.raw_bytes != body) return broken("its length is not what it says");
  if (header.payload_bytes > header.raw_bytes || header.count > header.raw_bytes) {
    return broken("its counts contradict each other");
  }
  return header;
}

std::expected<void, BlockFault> decode_records(BlockKey key, const BlockHeader& header,
                                               BytesView raw, Offset from, ReadBudget& budget,
                                               std::vector<Record>& out) {
  if (raw.size() != header.raw_bytes) return broken("its length is not what it says");
  return header.sealed ? decode_sealed(key, header, raw, from, budget, out)
                       : decode_hot(key, header, raw, from, budget, out);
}

HotBlock::HotBlock(BlockKey key, const BlockHeader& header) : key_{key}, header_{header} {
  header_.sealed = false;
  header_.count = 0;
  header_.raw_bytes = 0;
  header_.payload_bytes = 0;
  bytes_.assign(kBlockHeaderBytes, '\0');
}

HotBlock::HotBlock(BlockKey key, const BlockHeader& header, BytesView block)
    : key_{key}, header_{header}, bytes_{block} {
  HOLDFAST_CHECK(!header.sealed, "a sealed block takes no records");
}

bool HotBlock::fits(std::size_t record_bytes) const {
  return header_.count == 0 ||
         bytes_.size() + varint_bytes(record_bytes) + kRecordCheckBytes + record_bytes <=
             kHotBlockBytesMax;
}

void HotBlock::add(BytesView record) {
  if (bytes_.capacity() < kHotBlockBytesMax) bytes_.reserve(kHotBlockBytesMax);
  add_varint(bytes_, record.size());
  const std::uint32_t check = record_check(key_, header_.count, record);
  char as_bytes[kRecordCheckBytes];
  store(as_bytes, check);
  bytes_.append(as_bytes, kRecordCheckBytes);
  bytes_.append(record);
  ++header_.count;
  header_.payload_bytes += static_cast<std::uint32_t>(record.size());
  header_.raw_bytes = static_cast<std::uint32_t>(bytes_.size() - kBlockHeaderBytes);
}

void HotBlock::advance() {
  key_ = BlockKey::make(key_.log_id(), state().tail);
  header_.bytes_before += header_.payload_bytes;
  header_.count = 0;
  header_.raw_bytes = 0;
  header_.payload_bytes = 0;
  if (bytes_.capacity() > 2 * kHotBlockBytesMax) bytes_ = {};
  bytes_.assign(kBlockHeaderBytes, '\0');
}

BytesView HotBlock::finish() {
  write_header(bytes_.data(), header_);
  store(bytes_.data(), block_checksum(key_, bytes_));
  return bytes_;
}

void add_sealed(const std::vector<Record>& records, std::string& lengths, std::string& payloads) {
  for (const Record& record : records) {
    add_varint(lengths, record.bytes.size());
    payloads.append(record.bytes);
  }
}

std::string sealed_block(BlockKey key, BlockHeader header, BytesView compressed) {
  header.sealed = true;
  std::string block(kBlockHeaderBytes, '\0');
  block.append(compressed);
  write_header(block.data(), header);
  store(block.data(), block_checksum(key, block));
  return block;
}

}  // namespace holdfast::core
