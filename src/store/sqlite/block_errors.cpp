#include "store/sqlite/block_errors.h"

#include <fmt/format.h>

#include "core/log/names.h"

namespace holdfast::store {
namespace {

std::string log_text(std::string_view home, std::string_view log) {
  return fmt::format("log '{}' of '{}'", core::printable(log), core::printable(home));
}

}  // namespace

Error block_error(std::string_view home, std::string_view log, core::BlockKey key,
                  const core::BlockFault& fault) {
  const Offset at = fault.record.value_or(key.first());
  const std::string where = fault.record
                                ? fmt::format("record {}", at.value)
                                : fmt::format("the block that begins at offset {}", at.value);
  return Error{ErrorCode::kCorrupt,
               fmt::format("{} is damaged: {} cannot be trusted: {}; check the store and restore a "
                           "backup",
                           log_text(home, log), where, fault.what)}
      .with(0, at.value);
}

Error no_tail_block(std::string_view home, std::string_view log) {
  return {ErrorCode::kCorrupt,
          fmt::format("{} is damaged: it has no block; check the store and restore a backup",
                      log_text(home, log))};
}

Error row_error(std::string_view space, std::string_view key) {
  return {ErrorCode::kCorrupt,
          fmt::format("row '{}' of space '{}' is damaged: its checksum does not match; check the "
                      "store and restore a backup",
                      core::printable(key), core::printable(space))};
}

std::uint64_t row_checksum(std::string_view space, std::string_view key, std::string_view home,
                           std::uint64_t version, BytesView value) noexcept {
  std::uint64_t sum = core::bytes_checksum(space, version);
  sum = core::bytes_checksum(key, sum);
  sum = core::bytes_checksum(home, sum);
  return core::bytes_checksum(value, sum);
}

}  // namespace holdfast::store
