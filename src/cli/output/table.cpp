#include "cli/output/table.h"

#include <algorithm>

#include <holdfast/check.h>

#include "cli/output/text.h"

namespace holdfast::cli {

void Table::add(std::vector<std::string> cells) {
  HOLDFAST_CHECK(cells.size() == columns_.size(), "a row has a cell for each column");
  rows_.push_back(std::move(cells));
}

std::string Table::text(const Style& style) const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = display_width(columns_[i].heading);
    for (const auto& row : rows_) width = std::max(width, display_width(row[i]));
    widths.push_back(width);
  }
  const auto line = [&](const auto& cell_at) {
    std::string out;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (i > 0) out += "  ";
      out += padded(cell_at(i), widths[i], columns_[i].right);
    }
    out.erase(out.find_last_not_of(' ') + 1);
    return out;
  };
  std::string out =
      style.dim(line([&](std::size_t i) { return std::string_view{columns_[i].heading}; })) + "\n";
  for (const auto& row : rows_) {
    out += line([&](std::size_t i) { return std::string_view{row[i]}; }) + "\n";
  }
  return out;
}

void Properties::add(std::string name, std::string value) {
  rows_.emplace_back(std::move(name), std::move(value));
}

std::string Properties::text(const Style& style) const {
  std::size_t width = 0;
  for (const auto& row : rows_) width = std::max(width, display_width(row.first));
  std::string out;
  for (const auto& [name, value] : rows_) {
    out += style.dim(padded(name, width)) + "  " + value + "\n";
  }
  return out;
}

}  // namespace holdfast::cli
