#include "cli/commands/chunk_printer.h"

#include <fmt/format.h>

#include "cli/output/json.h"

namespace holdfast::cli {

bool print_chunk(Output& out, const Chunk& chunk, const ChunkForm& form) {
  if (form.json) return out.write(chunk_json(chunk).line());
  if (form.with_offsets && !out.write(fmt::format("{}\t", chunk.offset.value))) return false;
  if (!out.write(chunk.bytes)) return false;
  return form.raw || out.write("\n");
}

}  // namespace holdfast::cli
