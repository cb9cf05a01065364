// zstd for sealed blocks.
#pragma once

#include <memory>
#include <string>

#include <holdfast/bytes.h>

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace holdfast::store {

/// Compresses; keeps its memory for the next call. One thread at a time.
class Compressor {
 public:
  Compressor();
  ~Compressor();
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;
  [[nodiscard]] std::string compress(BytesView raw);

 private:
  ZSTD_CCtx_s* context_;
};

/// Decompresses; keeps its memory for the next call. One thread at a time.
class Decompressor {
 public:
  Decompressor();
  ~Decompressor();
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;
  /// Fills exactly [to, to + size); false if the bytes are not that.
  [[nodiscard]] bool decompress(BytesView compressed, char* to, std::size_t size);

 private:
  ZSTD_DCtx_s* context_;
};

}  // namespace holdfast::store
