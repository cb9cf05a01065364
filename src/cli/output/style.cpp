#include "cli/output/style.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace holdfast::cli {

Style Style::of(int fd) {
  Style style;
  style.terminal = ::isatty(fd) == 1;
  if (!style.terminal) return style;
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) style.columns = size.ws_col;
  const char* no_colour = std::getenv("NO_COLOR");  // NOLINT(concurrency-mt-unsafe): at start
  const char* term = std::getenv("TERM");           // NOLINT(concurrency-mt-unsafe)
  const bool refused = no_colour != nullptr && no_colour[0] != '\0';
  const bool dumb = term == nullptr || std::string_view{term} == "dumb";
  style.colour = !refused && !dumb;
  return style;
}

std::string Style::paint(std::string_view code, std::string_view text) const {
  if (!colour) return std::string{text};
  return "\x1b[" + std::string{code} + "m" + std::string{text} + "\x1b[0m";
}

}  // namespace holdfast::cli
