// Colour and width: only where a person looks.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace holdfast::cli {

/// How text goes to one descriptor.
struct Style {
  bool terminal = false;
  bool colour = false;
  std::size_t columns = 80;

  /// What fits the descriptor: colour only on a terminal, never with NO_COLOR set or TERM=dumb.
  [[nodiscard]] static Style of(int fd);

  [[nodiscard]] std::string bold(std::string_view text) const { return paint("1", text); }
  [[nodiscard]] std::string dim(std::string_view text) const { return paint("2", text); }
  [[nodiscard]] std::string red(std::string_view text) const { return paint("1;31", text); }
  [[nodiscard]] std::string green(std::string_view text) const { return paint("32", text); }
  [[nodiscard]] std::string cyan(std::string_view text) const { return paint("36", text); }

 private:
  [[nodiscard]] std::string paint(std::string_view code, std::string_view text) const;
};

}  // namespace holdfast::cli
