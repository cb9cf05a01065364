#include <holdfast/check.h>

#include <cstdio>
#include <cstdlib>

namespace holdfast {

void check_failed(std::string_view condition, std::string_view note,
                  std::source_location where) noexcept {
  std::fprintf(stderr, "holdfast: check failed: %.*s at %s:%u: %.*s\n",
               static_cast<int>(condition.size()), condition.data(), where.file_name(),
               static_cast<unsigned>(where.line()), static_cast<int>(note.size()), note.data());
  std::abort();
}

}  // namespace holdfast
