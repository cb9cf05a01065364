// How chunks are printed by `stream read` and `stream follow`.
#pragma once

#include <holdfast/stream.h>

#include "cli/output/output.h"

namespace holdfast::cli {

struct ChunkForm {
  bool json = false;          ///< {"offset":…,"next":…,"data":…}, a line each
  bool with_offsets = false;  ///< the offset and a tab before each chunk
  bool raw = false;           ///< no newline after a chunk
};

/// Writes one chunk, byte for byte as it was appended; false when the output takes no more.
bool print_chunk(Output& out, const Chunk& chunk, const ChunkForm& form);

}  // namespace holdfast::cli
