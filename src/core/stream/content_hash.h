// The hash of a source's bytes, as far as they were taken: XXH3, 128 bits.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace holdfast::core {

struct ContentHash {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  friend bool operator==(const ContentHash&, const ContentHash&) = default;
};

[[nodiscard]] ContentHash hash_content(std::string_view bytes);

/// The hash of all bytes added so far; copies go on separately.
class RunningHash {
 public:
  RunningHash();
  RunningHash(const RunningHash& other);
  RunningHash& operator=(const RunningHash& other);
  ~RunningHash();
  void add(std::string_view bytes);
  [[nodiscard]] ContentHash value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace holdfast::core
