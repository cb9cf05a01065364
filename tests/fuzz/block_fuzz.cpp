// The record decoder: any bytes give records or a fault, and what it gives is consistent.
//
// The checksum is put right before decoding, in most inputs, so that what lies behind it is
// reached; a fault in one place must never become a crash in another.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "core/log/block.h"

namespace {

using namespace holdfast;

void require(bool condition) {
  if (!condition) std::abort();
}

void decode(core::BlockKey key, const core::BlockHeader& header, BytesView body,
            std::size_t records_max, std::size_t bytes_max) {
  std::vector<Record> records;
  core::ReadBudget budget{.records = records_max, .bytes = bytes_max};
  if (!core::decode_records(key, header, body, key.first(), budget, records)) return;
  require(records.size() <= header.count);
  for (std::size_t i = 0; i < records.size(); ++i) {
    require(records[i].offset == Offset{key.first().value + i});
    const auto bytes = records[i].bytes;
    require(bytes.empty() || (bytes.data() >= body.data() &&
                              bytes.data() + bytes.size() <= body.data() + body.size()));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const auto key = core::BlockKey::make(1 + data[0], Offset{std::uint64_t{data[1]} * 3});
  std::string block{reinterpret_cast<const char*>(data) + 2, size - 2};
  constexpr std::size_t kChecksumBytes = 8;
  if (block.size() >= kChecksumBytes && data[0] % 8 != 0) {
    const auto sum =
        core::bytes_checksum(std::string_view{block}.substr(kChecksumBytes), key.value);
    std::memcpy(block.data(), &sum, sizeof sum);
  }
  const auto header = core::open_block(key, block);
  if (!header) return 0;
  const auto body = std::string_view{block}.substr(core::kBlockHeaderBytes);
  // A sealed body is decompressed before it is decoded, so its length is what the header says.
  if (header->sealed && body.size() != header->raw_bytes) return 0;
  decode(key, *header, body, SIZE_MAX, SIZE_MAX);
  decode(key, *header, body, 1, 0);
  if (!header->sealed) {
    core::HotBlock hot{key, *header, block};
    hot.add("one more");
    const std::string longer{hot.finish()};
    const auto again = core::open_block(key, longer);
    require(again.has_value() && again->count == header->count + 1);
  }
  return 0;
}
