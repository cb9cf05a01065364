// The rows that streams keep: any bytes give a value or an error; a value that was read is written
// and read again as the same.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/stream/import_mark.h"
#include "core/stream/lifecycle.h"
#include "core/stream/offset_token.h"
#include "core/stream/producer.h"
#include "core/stream/record.h"
#include "engine/streams/rows.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast;
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  if (const auto record = core::decode_record(bytes)) {
    const auto written = core::encode_record(*record);
    const auto again = core::decode_record(written);
    if (!again || core::encode_record(*again) != written) std::abort();
  }
  if (const auto mark = core::decode_import_mark(bytes)) {
    const auto again = core::decode_import_mark(core::encode_import_mark(*mark));
    if (!again || !(*again == *mark)) std::abort();
  }
  (void)core::decode_producer(bytes);
  (void)core::decode_deadline(bytes);
  (void)engine::decode_due(bytes);
  (void)engine::decode_owed(bytes);
  (void)core::parse_offset_token(bytes);
  (void)core::parse_offset(bytes);
  return 0;
}
