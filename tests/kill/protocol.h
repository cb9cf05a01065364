// What the parent of a kill test and its workers agree on: what is appended, and the lines that
// workers write to their pipe.
//
//   writer:  "ack K\n"         append K is acknowledged       (written after the call returned)
//   reader:  "got OFFSET W K I\n"   chunk I of append K of writer W was read at OFFSET
//   any:     "fail TEXT\n"     what must not happen, happened
//
// Append K of writer W is 1 + K mod 4 chunks; chunk I of it is the text "W K I" and some filler
// whose length follows from the three. So every chunk says where it belongs, and whether all of it
// is there.
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace holdfast::kill {

struct ChunkId {
  std::uint32_t writer = 0;
  std::uint64_t append = 0;
  std::uint32_t index = 0;
  friend bool operator==(const ChunkId&, const ChunkId&) = default;
};

inline std::uint32_t chunks_of(std::uint64_t append) {
  return 1 + static_cast<std::uint32_t>(append % 4);
}

inline std::string chunk_text(const ChunkId& id) {
  const std::size_t filler = (id.append * 37 + id.index * 11 + id.writer) % 120;
  return fmt::format("{} {} {} {}", id.writer, id.append, id.index, std::string(filler, '.'));
}

/// The id of a chunk, if the chunk is whole.
inline std::optional<ChunkId> parse_chunk(std::string_view text) {
  ChunkId id;
  const std::string copy{text};
  unsigned long long append = 0;
  if (std::sscanf(copy.c_str(), "%u %llu %u", &id.writer, &append, &id.index) != 3) return {};
  id.append = append;
  if (chunk_text(id) != text) return {};
  return id;
}

}  // namespace holdfast::kill
