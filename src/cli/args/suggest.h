// "Did you mean …?": the nearest of the words that would have been right.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace holdfast::cli {

/// How many letters must be added, dropped, changed or swapped with their neighbour to make `a`
/// from `b`.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The word nearest to `given`, or empty when none is near enough to be what was meant.
[[nodiscard]] std::string nearest(std::string_view given, std::span<const std::string> words);

}  // namespace holdfast::cli
