#include "store/sqlite/compression.h"

#include <zstd.h>

#include <holdfast/check.h>

namespace holdfast::store {
namespace {

// Sealing runs in the background and chat compresses to a sixth at once; higher levels gain little.
constexpr int kLevel = 6;

}  // namespace

Compressor::Compressor() : context_{ZSTD_createCCtx()} {
  HOLDFAST_CHECK(context_ != nullptr, "no memory for a compressor");
}

Compressor::~Compressor() { ZSTD_freeCCtx(context_); }

std::string Compressor::compress(BytesView raw) {
  std::string out(ZSTD_compressBound(raw.size()), '\0');
  const std::size_t size =
      ZSTD_compressCCtx(context_, out.data(), out.size(), raw.data(), raw.size(), kLevel);
  HOLDFAST_CHECK(ZSTD_isError(size) == 0, "compression into enough space failed");
  out.resize(size);
  return out;
}

Decompressor::Decompressor() : context_{ZSTD_createDCtx()} {
  HOLDFAST_CHECK(context_ != nullptr, "no memory for a decompressor");
}

Decompressor::~Decompressor() { ZSTD_freeDCtx(context_); }

bool Decompressor::decompress(BytesView compressed, char* to, std::size_t size) {
  const std::size_t got =
      ZSTD_decompressDCtx(context_, to, size, compressed.data(), compressed.size());
  return ZSTD_isError(got) == 0 && got == size;
}

}  // namespace holdfast::store
