// Aligned columns.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/output/style.h"

namespace holdfast::cli {

/// Rows of cells under headings, each column as wide as its widest cell. Two spaces stand between
/// columns, nothing after the last.
class Table {
 public:
  struct Column {
    std::string heading;
    bool right = false;  ///< numbers stand at the right
  };

  explicit Table(std::vector<Column> columns) : columns_{std::move(columns)} {}
  /// As many cells as there are columns.
  void add(std::vector<std::string> cells);
  [[nodiscard]] std::string text(const Style& style) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// "name   value" lines, names padded to the longest: for one thing's properties.
class Properties {
 public:
  void add(std::string name, std::string value);
  [[nodiscard]] std::string text(const Style& style) const;

 private:
  std::vector<std::pair<std::string, std::string>> rows_;
};

}  // namespace holdfast::cli
