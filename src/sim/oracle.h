// The differential oracle: the same random operations on a store and on the model, every answer
// compared at once.
//
// What need not be equal: row versions (their roles must be), how much one read gives (within its
// limits), how far back a store can locate (never too far).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include <holdfast/clock.h>
#include <holdfast/store.h>

#include "sim/script.h"

namespace holdfast::sim {

/// The store to judge, and what else the oracle may do to it.
struct Subject {
  std::function<Store&()> store;
  /// Closes and opens it; may do nothing.
  std::function<void()> reopen = [] {};
  /// Seals, checks, compacts. Returns what was found wrong; empty if nothing.
  std::function<std::string(std::uint64_t)> maintain = [](std::uint64_t) { return std::string{}; };
  ManualClock* clock = nullptr;
};

struct Verdicts {
  std::uint64_t steps = 0;
  std::uint64_t commits = 0;   ///< that were taken
  std::uint64_t refusals = 0;  ///< that were refused
  /// Empty if all answers agreed; else the seed, the step and both answers.
  std::string disagreement{};
  /// What was done and answered, a line per step: the same for the same seed.
  std::string log{};
};

/// Runs `steps` steps of the script of `seed` on the subject and a model of its own.
[[nodiscard]] Verdicts run_oracle(const Subject& subject, std::uint64_t seed, std::uint64_t steps,
                                  const ScriptShape& shape = {});

}  // namespace holdfast::sim
