#include "cli/args/help.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/output/text.h"

namespace holdfast::cli {
namespace {

using Rows = std::vector<std::pair<std::string, std::string>>;

// "  left   right", the right side wrapped; a left side that is too wide gets a line of its own.
std::string two_columns(const Rows& rows, std::size_t columns, const Style& style) {
  constexpr std::size_t kLeftMost = 26;
  std::size_t left = 0;
  for (const auto& row : rows) {
    const std::size_t width = display_width(row.first);
    if (width <= kLeftMost) left = std::max(left, width);
  }
  std::string out;
  for (const auto& [name, text] : rows) {
    const std::size_t indent = 2 + left + 2;
    out += "  " + style.bold(padded(name, left));
    out += display_width(name) > left ? "\n" + std::string(indent, ' ') : "  ";
    out += wrapped(text, columns - indent, indent) + "\n";
  }
  return out;
}

std::string section(std::string_view heading, const std::string& body, const Style& style) {
  return body.empty() ? std::string{} : "\n" + style.bold(heading) + "\n" + body;
}

Rows option_rows(const Command& command) {
  Rows rows;
  for (const Option& option : command.options()) {
    const std::string_view indent = option.letter == 0 ? "    " : "";
    rows.emplace_back(fmt::format("{}{}", indent, option_heading(option)), option.help);
  }
  return rows;
}

}  // namespace

std::string usage_line(const Command& command) {
  std::string line = command.path();
  if (!command.commands().empty()) return line + " [OPTIONS] COMMAND";
  if (!command.options().empty()) line += " [OPTIONS]";
  for (const Argument& argument : command.arguments()) {
    const std::string shown = argument.name + (argument.many ? "..." : "");
    line += argument.required ? " " + shown : " [" + shown + "]";
  }
  return line;
}

std::string option_heading(const Option& option) {
  const std::string letter = option.letter == 0 ? "" : fmt::format("-{}, ", option.letter);
  const std::string value = option.is_flag() ? "" : " " + option.value_name;
  return letter + option.name + value;
}

std::string help_text(const Command& command, const Style& style) {
  const std::size_t columns = std::clamp<std::size_t>(style.columns, 40, 100);
  std::string out = style.bold(command.path()) + ": " + command.summary() + "\n\n";
  out += "Usage: " + usage_line(command) + "\n";
  for (const std::string& paragraph : command.description()) {
    out += "\n" + wrapped(paragraph, columns, 0) + "\n";
  }

  Rows rows;
  for (const auto& below : command.commands()) rows.emplace_back(below->name(), below->summary());
  out += section("Commands", two_columns(rows, columns, style), style);

  rows.clear();
  for (const Argument& argument : command.arguments()) {
    rows.emplace_back(argument.name, argument.help);
  }
  out += section("Arguments", two_columns(rows, columns, style), style);
  out += section("Options", two_columns(option_rows(command), columns, style), style);

  rows.clear();
  for (const Command* above = command.parent(); above != nullptr; above = above->parent()) {
    const Rows more = option_rows(*above);
    rows.insert(rows.end(), more.begin(), more.end());
  }
  rows.emplace_back("-h, --help", "Show this.");
  out += section(command.parent() == nullptr ? "" : "Options of every command",
                 two_columns(rows, columns, style), style);

  std::string examples;
  for (const Example& example : command.examples()) {
    examples += "  " + style.dim("# " + example.does) + "\n  " + example.line + "\n";
  }
  out += section("Examples", examples, style);
  if (!command.commands().empty()) {
    out += "\n'" + command.path() + " COMMAND --help' tells more about a command.\n";
  }
  return out;
}

}  // namespace holdfast::cli
