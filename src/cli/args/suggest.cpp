#include "cli/args/suggest.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace holdfast::cli {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);  // the row two letters of `a` ago
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::string nearest(std::string_view given, std::span<const std::string> words) {
  std::string best;
  std::size_t best_distance = std::string::npos;
  for (const std::string& word : words) {
    const bool begun = given.size() >= 2 && word.starts_with(given);
    const std::size_t distance = begun ? 1 : edit_distance(given, word);
    const std::size_t near_enough =
        std::max<std::size_t>(std::max(given.size(), word.size()) / 3, 1);
    if (distance <= near_enough && distance < best_distance) {
      best = word;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace holdfast::cli
