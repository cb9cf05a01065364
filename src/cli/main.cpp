#include <string>
#include <vector>

#include "cli/program.h"

int main(int argc, char** argv) {
  const int first = argc > 0 ? 1 : 0;
  return holdfast::cli::run_program(std::vector<std::string>(argv + first, argv + argc));
}
