#include "cli/args/exit_statuses.h"

#include <algorithm>
#include <map>
#include <string_view>

#include <holdfast/result.h>

namespace holdfast::cli {
namespace {

std::string_view words(int status) {
  switch (status) {
    case 0: return "All was done. A reader of the output that went away is no failure.";
    case 2: return "The command line or its input is wrong.";
    case 3: return "The store, stream or file is not there.";
    case 4: return "What is there disagrees with what was asked for.";
    case 5: return "The chunks asked for were trimmed, or the stream was deleted.";
    case 6: return "The stream is closed.";
    case 7: return "The disk is full, or the system refused a read, a write or a sync.";
    case 8: return "Busy, or not done in time: try again.";
    case 9: return "A token is missing or wrong.";
    case 10: return "Stored data is damaged.";
    case 11: return "The store was written by a newer program.";
    case 130: return "Interrupted; what was done so far is kept.";
    default: return "";
  }
}

}  // namespace

std::vector<ExitStatus> exit_statuses() {
  std::map<int, std::string> names{{0, {}}};
  for (int i = 0; i <= static_cast<int>(ErrorCode::kIo); ++i) {
    const auto code = static_cast<ErrorCode>(i);
    std::string& list = names[exit_status(code)];
    list += (list.empty() ? "" : ", ") + std::string{error_name(code)};
  }
  std::vector<ExitStatus> out;
  for (const auto& [status, list] : names) {
    const std::string suffix = list.empty() ? "" : " (" + list + ")";
    out.push_back({status, std::string{words(status)} + suffix});
  }
  return out;
}

}  // namespace holdfast::cli
