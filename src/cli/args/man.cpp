#include "cli/args/man.h"

#include <string>

#include <fmt/format.h>

#include "cli/args/exit_statuses.h"
#include "cli/args/help.h"

namespace holdfast::cli {
namespace {

std::string paragraph(std::string_view text) { return ".PP\n" + roff_escaped(text) + "\n"; }

std::string tagged(std::string_view tag, std::string_view text) {
  return fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff_escaped(tag), roff_escaped(text));
}

std::string example_lines(const Command& command) {
  std::string out;
  for (const Example& example : command.examples()) {
    out += fmt::format(".PP\n{}:\n.PP\n.RS 4\n.nf\n{}\n.fi\n.RE\n", roff_escaped(example.does),
                       roff_escaped(example.line));
  }
  return out;
}

std::string option_list(const Command& command) {
  std::string out;
  for (const Option& option : command.options()) out += tagged(option_heading(option), option.help);
  return out;
}

// A command that can be run, as a subsection.
std::string command_section(const Command& command) {
  std::string out = fmt::format(".SS \"{}\"\n{}.\n", roff_escaped(usage_line(command)),
                                roff_escaped(command.summary()));
  for (const std::string& text : command.description()) out += paragraph(text);
  for (const Argument& argument : command.arguments()) out += tagged(argument.name, argument.help);
  return out + option_list(command) + example_lines(command);
}

// A group of commands, as a section.
std::string group_section(const Command& group) {
  std::string out = fmt::format(".SH \"{}\"\n{}.\n", roff_escaped(group.name() + " commands"),
                                roff_escaped(group.summary()));
  for (const std::string& text : group.description()) out += paragraph(text);
  out += option_list(group) + example_lines(group);
  for (const auto& command : group.commands()) out += command_section(*command);
  return out;
}

}  // namespace

std::string roff_escaped(std::string_view text) {
  std::string out;
  bool at_line_start = true;
  for (const char c : text) {
    if (at_line_start && (c == '.' || c == '\'')) out += "\\&";
    switch (c) {
      case '\\': out += "\\e"; break;
      case '-': out += "\\-"; break;
      case '"': out += "\\(dq"; break;
      case '\'': out += "\\(aq"; break;
      case '^': out += "\\(ha"; break;
      case '~': out += "\\(ti"; break;
      case '`': out += "\\(ga"; break;
      default: out += c;
    }
    at_line_start = c == '\n';
  }
  return out;
}

std::string man_page(const Command& root, std::string_view version) {
  std::string out =
      fmt::format(".TH HOLDFAST 1 \"\" \"holdfast {}\" \"User Commands\"\n", roff_escaped(version));
  out += fmt::format(".SH NAME\n{} \\- {}\n", root.name(), roff_escaped(root.summary()));
  out += fmt::format(".SH SYNOPSIS\n\\fB{}\\fR [\\fIOPTIONS\\fR] \\fICOMMAND\\fR\n", root.name());
  out += ".SH DESCRIPTION\n";
  bool first = true;
  for (const std::string& text : root.description()) {
    out += first ? roff_escaped(text) + "\n" : paragraph(text);
    first = false;
  }
  out += ".SH OPTIONS\nThese hold for every command and may stand before or after its name.\n";
  out += option_list(root) + tagged("-h, --help", "Show help for the command at hand.");

  // Commands without commands of their own come first, in one section.
  out += ".SH COMMANDS\n";
  for (const auto& below : root.commands()) {
    if (below->commands().empty()) out += command_section(*below);
  }
  for (const auto& below : root.commands()) {
    if (!below->commands().empty()) out += group_section(*below);
  }

  out += ".SH EXIT STATUS\n";
  for (const ExitStatus& status : exit_statuses()) {
    out += tagged(std::to_string(status.status), status.meaning);
  }
  out += ".SH ENVIRONMENT\n";
  out += tagged("HOLDFAST_STORE", "The store to use when --store is not given.");
  out += tagged("NO_COLOR", "If set to anything, no colour is used.");
  out += ".SH FILES\n";
  out += tagged("./holdfast.db", "The store when neither --store nor HOLDFAST_STORE names one.");
  out += ".SH EXAMPLES\n";
  return out + example_lines(root);
}

}  // namespace holdfast::cli
