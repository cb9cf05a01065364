// Folding, over any lines: nothing is lost. What was not folded stands byte for byte; the cursors
// of the folded lines cover all offsets once, in order.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/stream/fold.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast;
  std::string_view rest{reinterpret_cast<const char*>(data), size};
  core::Folder folder{size % 2 == 0 ? std::size_t{1} << 20 : 64};
  std::uint64_t offset = 0;
  while (!rest.empty()) {
    const auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (const auto place = core::find_delta(line)) {
      if (place->begin > place->end || place->end > line.size()) std::abort();
    }
    folder.push(line, Offset{offset}, Offset{offset + 1});
    ++offset;
  }
  folder.finish();
  std::uint64_t next = 0;
  std::size_t bytes = 0;
  for (const auto& line : folder.lines()) {
    if (line.offset != Offset{next} || line.next <= line.offset) std::abort();
    if (line.begin != bytes || line.begin + line.size > folder.bytes().size()) std::abort();
    next = line.next.value;
    bytes += line.size;
  }
  if (next != offset || bytes != folder.bytes().size()) std::abort();
  return 0;
}
