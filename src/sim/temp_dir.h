// A directory for one test's files, removed with all it holds.
#pragma once

#include <string>
#include <string_view>

namespace holdfast::sim {

class TempDir {
 public:
  TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir();

  [[nodiscard]] const std::string& path() const { return path_; }
  /// The path of `name` inside it.
  [[nodiscard]] std::string file(std::string_view name) const;

 private:
  std::string path_;
};

}  // namespace holdfast::sim
