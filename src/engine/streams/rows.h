// Keys and values of the rows that streams keep beside their records.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <holdfast/clock.h>
#include <holdfast/ids.h>
#include <holdfast/result.h>
#include <holdfast/store.h>

namespace holdfast::engine {

/// What is to be looked at when a due row's time has come.
enum class DueKind : std::uint8_t {
  kExpiry = 1,  ///< whether the stream has expired
  kAge = 2,     ///< whether chunks are too old
  kVoid = 3,    ///< a fork that was undone: its birth row has done its service
};

struct Due {
  DueKind kind{};
  std::string name;
  Ulid id{};
};

/// 16 hexadecimal digits that sort as the times do.
[[nodiscard]] std::string due_time_key(Timestamp at);
/// The time of a due row's key.
[[nodiscard]] Timestamp due_time(std::string_view key);
[[nodiscard]] RowPut due_row(Timestamp at, DueKind kind, std::string_view name, const Ulid& id);
[[nodiscard]] Result<Due> decode_due(BytesView bytes);

/// What is owed after a commit.
enum class OwedKind : std::uint8_t {
  kPin = 1,      ///< in a source's home: see whether the fork was born, or undo the pin
  kCleanUp = 2,  ///< in a removed stream's home: delete its rows, release its source
};

struct Owed {
  OwedKind kind{};
  std::string name;   ///< the home's stream
  Ulid id{};          ///< of that stream
  std::string other;  ///< the fork (kPin) or the source (kCleanUp, empty if none)
  Ulid other_id{};
  Timestamp since{};
};

[[nodiscard]] std::string owed_key(const Owed& owed);
[[nodiscard]] RowPut owed_row(const Owed& owed);
[[nodiscard]] Result<Owed> decode_owed(BytesView bytes);

/// "<a>/<b>"
[[nodiscard]] std::string joined(std::string_view a, std::string_view b);

}  // namespace holdfast::engine
