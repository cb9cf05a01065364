// What the program's exit statuses mean. The numbers come from the one table of error codes
// (result.h); only their words are here.
#pragma once

#include <string>
#include <vector>

namespace holdfast::cli {

struct ExitStatus {
  int status;
  std::string meaning;
};

/// All statuses there are, lowest first, each with the names of the errors that it stands for.
[[nodiscard]] std::vector<ExitStatus> exit_statuses();

}  // namespace holdfast::cli
