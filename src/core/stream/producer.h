// A producer: a writer that repeats itself safely.
//
// given (epoch, seq)                 state (E, S)            answer
// --------------------------------   ---------------------   ---------------------------------
// any epoch, seq 0                   none yet                accept
// any epoch, seq > 0                 none yet                kSequenceGap (expected 0)
// epoch < E                          (E, S)                  kFenced (actual = E)
// epoch = E, seq <= S                (E, S)                  duplicate (answers with S)
// epoch = E, seq = S + 1             (E, S)                  accept
// epoch = E, seq > S + 1             (E, S)                  kSequenceGap (expected S + 1)
// epoch > E, seq 0                   (E, S)                  accept: the older epoch is fenced out
// epoch > E, seq > 0                 (E, S)                  kInvalidArgument
//
// Leaves to others: where the state is kept, and that it changes in the same commit as the chunks.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <holdfast/bytes.h>
#include <holdfast/result.h>

namespace holdfast::core {

/// The longest producer id, in bytes.
inline constexpr std::size_t kProducerIdBytesMax = 512;

/// The last append taken from a producer.
struct ProducerState {
  std::uint64_t epoch = 0;
  std::uint64_t seq = 0;
  friend bool operator==(const ProducerState&, const ProducerState&) = default;
};

/// What to do with an append.
struct ProducerDecision {
  bool duplicate = false;  ///< taken before: write nothing
  ProducerState after{};   ///< the state to keep (accepted) or that holds (duplicate)
};

/// Decides by the table above. `id` only names the producer in errors.
[[nodiscard]] Result<ProducerDecision> decide_producer(const std::optional<ProducerState>& state,
                                                       std::string_view id, std::uint64_t epoch,
                                                       std::uint64_t seq);

/// 1 to kProducerIdBytesMax bytes.
[[nodiscard]] Result<void> check_producer_id(std::string_view id);

/// As kept in a row.
[[nodiscard]] Bytes encode_producer(const ProducerState& state);
[[nodiscard]] Result<ProducerState> decode_producer(BytesView bytes);

}  // namespace holdfast::core
