#include <holdfast/store.h>

namespace holdfast {

KeyRange KeyRange::prefix(std::string_view prefix) {
  KeyRange range;
  range.from = prefix;
  // The first key after all that begin with the prefix: the last byte that can grow, grown.
  std::string end{prefix};
  while (!end.empty() && static_cast<unsigned char>(end.back()) == 0xFF) end.pop_back();
  if (!end.empty()) end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  range.to = end;
  return range;
}

}  // namespace holdfast
