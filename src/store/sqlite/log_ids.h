// Which id a log has, remembered for the whole process.
//
// Invariants
//   - What is remembered was true once and an id never means another log, so a remembered id is
//     right exactly as long as a block of it can be found. Whoever finds none forgets it and asks
//     the file.
//   - Only committed ids are remembered: an id of a commit that was undone is given again.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include <holdfast/store.h>

namespace holdfast::store {

/// Home and name in one string. Names hold no NUL, so the parts cannot run into each other.
[[nodiscard]] inline std::string log_path(std::string_view home, std::string_view log) {
  std::string path;
  path.reserve(home.size() + 1 + log.size());
  return path.append(home).append(1, '\0').append(log);
}

struct PathHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view path) const {
    return std::hash<std::string_view>{}(path);
  }
};

class LogIds {
 public:
  [[nodiscard]] std::optional<std::uint64_t> find(std::string_view path) const {
    const std::shared_lock lock{mutex_};
    const auto at = ids_.find(path);
    return at == ids_.end() ? std::nullopt : std::optional{at->second};
  }
  void remember(std::string_view path, std::uint64_t id) {
    const std::lock_guard lock{mutex_};
    if (ids_.size() >= kEntriesMax) ids_.clear();
    ids_.insert_or_assign(std::string{path}, id);
  }
  void forget(std::string_view path) {
    const std::lock_guard lock{mutex_};
    if (const auto at = ids_.find(path); at != ids_.end()) ids_.erase(at);
  }

 private:
  static constexpr std::size_t kEntriesMax = 100'000;
  mutable std::shared_mutex mutex_;
  std::unordered_map<std::string, std::uint64_t, PathHash, std::equal_to<>> ids_;
};

}  // namespace holdfast::store
