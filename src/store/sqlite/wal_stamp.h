// Tells without a lock or a system call whether anybody has committed: the header of SQLite's
// shared WAL index, which every commit of every process changes before it is answered.
//
// Equal stamps mean that nothing was committed between them. A stamp that cannot be had (no index
// yet, a commit just now) equals none.
#pragma once

#include <array>
#include <cstdint>

#include "store/sqlite/database.h"

namespace holdfast::store {

class WalStamp {
 public:
  /// Reads the stamp of a connection's file. The connection must have read before.
  [[nodiscard]] static WalStamp of(const Connection& connection);

  [[nodiscard]] bool known() const { return known_; }
  friend bool operator==(const WalStamp& a, const WalStamp& b) {
    return a.known_ && b.known_ && a.words_ == b.words_;
  }

 private:
  // The index begins with two copies of its header (https://sqlite.org/walformat.html); a writer
  // changes the second first, so equal ones are whole.
  static constexpr std::size_t kHeaderWords = 12;
  std::array<std::uint32_t, kHeaderWords> words_{};
  bool known_ = false;
};

}  // namespace holdfast::store
