#include "core/stream/producer.h"

#include <fmt/format.h>

#include "core/log/names.h"
#include "core/stream/row_codec.h"

namespace holdfast::core {
namespace {

constexpr std::uint8_t kVersion = 1;

std::unexpected<Error> gap(std::string_view id, std::uint64_t epoch, std::uint64_t expected,
                           std::uint64_t received) {
  return fail(
      Error{ErrorCode::kSequenceGap,
            fmt::format("producer '{}' sent number {} of epoch {} where {} is next: send what is "
                        "missing first",
                        printable(id), received, epoch, expected)}
          .with(expected, received));
}

}  // namespace

Result<ProducerDecision> decide_producer(const std::optional<ProducerState>& state,
                                         std::string_view id, std::uint64_t epoch,
                                         std::uint64_t seq) {
  if (!state) {
    if (seq != 0) return gap(id, epoch, 0, seq);
    return ProducerDecision{false, {epoch, seq}};
  }
  if (epoch < state->epoch) {
    return fail(Error{ErrorCode::kFenced,
                      fmt::format("producer '{}' is fenced out: epoch {} has taken over from its "
                                  "epoch {}",
                                  printable(id), state->epoch, epoch)}
                    .with(epoch, state->epoch));
  }
  if (epoch > state->epoch) {
    if (seq != 0) {
      return fail(Error{ErrorCode::kInvalidArgument,
                        fmt::format("producer '{}' began epoch {} with number {}: a new epoch "
                                    "begins with 0",
                                    printable(id), epoch, seq)}
                      .with(0, seq));
    }
    return ProducerDecision{false, {epoch, seq}};
  }
  if (seq <= state->seq) return ProducerDecision{true, *state};
  if (seq != state->seq + 1) return gap(id, epoch, state->seq + 1, seq);
  return ProducerDecision{false, {epoch, seq}};
}

Result<void> check_producer_id(std::string_view id) {
  if (!id.empty() && id.size() <= kProducerIdBytesMax) return {};
  return fail(
      Error{ErrorCode::kInvalidArgument,
            fmt::format("a producer id has {} bytes: give 1 to {}", id.size(), kProducerIdBytesMax)}
          .with(kProducerIdBytesMax, id.size()));
}

Bytes encode_producer(const ProducerState& state) {
  RowWriter writer{kVersion};
  writer.number(state.epoch).number(state.seq);
  return std::move(writer).take();
}

Result<ProducerState> decode_producer(BytesView bytes) {
  RowReader reader{"a producer", bytes, kVersion};
  ProducerState state;
  state.epoch = reader.number();
  state.seq = reader.number();
  if (auto good = reader.finish(); !good) return fail(good.error());
  return state;
}

}  // namespace holdfast::core
