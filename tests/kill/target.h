// What a kill test's worker writes to and reads from: the store's contract itself, or a stream.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <holdfast/sqlite_store.h>

namespace holdfast::kill {

/// One log that several writers of several processes append to and several readers follow. Errors
/// throw `std::runtime_error`: here each of them is a failed test.
class Target {
 public:
  Target() = default;
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;
  virtual ~Target() = default;

  /// Appends what append K of a writer is, unless it is there already. True if it was there.
  virtual bool append(std::uint32_t writer, std::uint64_t append,
                      const std::vector<BytesView>& chunks) = 0;
  /// Calls `got` for each chunk from an offset on, and waits for more, until `got` says no.
  virtual void follow(std::uint64_t from,
                      const std::function<bool(std::uint64_t offset, BytesView)>& got) = 0;
  /// The next offset.
  virtual std::uint64_t tail() = 0;
};

enum class Kind : std::uint8_t { kStore, kStream };
/// With `create` it makes the log if it is not there; without, it commits nothing.
std::unique_ptr<Target> make_target(Kind kind, SqliteStore& store, bool create);

}  // namespace holdfast::kill
