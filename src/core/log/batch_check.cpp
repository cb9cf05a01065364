#include "core/log/batch_check.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/log/names.h"

namespace holdfast::core {
namespace {

std::string log_text(std::string_view home, std::string_view log) {
  return fmt::format("log '{}' of '{}'", printable(log), printable(home));
}

Result<void> check_size(std::string_view what, std::size_t size, std::size_t limit,
                        std::string_view unit) {
  if (size <= limit) return {};
  return fail(Error{ErrorCode::kTooLarge,
                    fmt::format("{} has {} {}: the limit is {}", what, size, unit, limit)}
                  .with(limit, size));
}

// Names of one list: each sound, none twice.
template <typename List>
Result<void> check_log_names(const List& list, std::string_view does) {
  std::vector<std::string_view> names;
  names.reserve(list.size());
  for (const auto& part : list) {
    if (auto ok = check_name("log", part.log); !ok) return ok;
    names.push_back(part.log);
  }
  std::ranges::sort(names);
  if (const auto twice = std::ranges::adjacent_find(names); twice != names.end()) {
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("the batch {} log '{}' twice: join the two into one", does, printable(*twice)));
  }
  return {};
}

template <typename List>
Result<void> check_row_names(const List& list, std::string_view does) {
  std::vector<std::pair<std::string_view, std::string_view>> names;
  names.reserve(list.size());
  for (const auto& part : list) {
    if (auto ok = check_name("space", part.space); !ok) return ok;
    if (auto ok = check_size("a row's key", part.key.size(), kKeyBytesMax, "bytes"); !ok) return ok;
    names.emplace_back(part.space, part.key);
  }
  std::ranges::sort(names);
  if (const auto twice = std::ranges::adjacent_find(names); twice != names.end()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("the batch {} row '{}' of space '{}' twice", does,
                            printable(twice->second), printable(twice->first)));
  }
  return {};
}

}  // namespace

Result<void> check_batch(const Batch& batch) {
  if (auto ok = check_name("home", batch.home); !ok) return ok;
  if (auto ok = check_log_names(batch.creates, "creates"); !ok) return ok;
  if (auto ok = check_log_names(batch.appends, "appends to"); !ok) return ok;
  if (auto ok = check_log_names(batch.trims, "trims"); !ok) return ok;
  if (auto ok = check_log_names(batch.removes, "removes"); !ok) return ok;
  if (auto ok = check_row_names(batch.puts, "puts"); !ok) return ok;
  if (auto ok = check_row_names(batch.deletes, "deletes"); !ok) return ok;

  for (const LogCreate& create : batch.creates) {
    if (create.first.value > kLogOffsetsMax) {
      return fail(
          Error{ErrorCode::kTooLarge,
                fmt::format("{} cannot start at offset {}: the limit is {}",
                            log_text(batch.home, create.log), create.first.value, kLogOffsetsMax)}
              .with(kLogOffsetsMax, create.first.value));
    }
  }
  std::size_t records = 0;
  std::size_t bytes = 0;
  for (const LogAppend& append : batch.appends) {
    records += append.records.size();
    for (const BytesView record : append.records) {
      if (auto ok = check_size("a record", record.size(), kRecordBytesMax, "bytes"); !ok) return ok;
      bytes += record.size();
    }
  }
  for (const RowPut& put : batch.puts) {
    if (auto ok = check_size("a row's value", put.value.size(), kRecordBytesMax, "bytes"); !ok) {
      return ok;
    }
    bytes += put.value.size();
  }
  if (auto ok = check_size("the batch", records, kBatchRecordsMax, "records"); !ok) return ok;
  return check_size("the batch", bytes, kBatchBytesMax, "bytes");
}

Error log_exists(std::string_view home, std::string_view log) {
  return {ErrorCode::kAlreadyExists, fmt::format("{} is there already", log_text(home, log))};
}

Error no_such_log(std::string_view home, std::string_view log) {
  return {ErrorCode::kNotFound, fmt::format("there is no {}", log_text(home, log))};
}

Result<void> check_append(std::string_view home, const LogAppend& append, const LogState* state) {
  if (state == nullptr) return fail(no_such_log(home, append.log));
  if (append.epoch && *append.epoch < state->epoch) {
    return fail(
        Error{ErrorCode::kStale,
              fmt::format("{} is at epoch {}, and epoch {} was given: its owner changed",
                          log_text(home, append.log), state->epoch.value, append.epoch->value)}
            .with(append.epoch->value, state->epoch.value));
  }
  if (state->closed && !(append.close && append.records.empty())) {
    return fail(Error{
        ErrorCode::kClosed,
        fmt::format("{} was closed at offset {}", log_text(home, append.log), state->tail.value)}
                    .with(0, state->tail.value));
  }
  if (append.expected_tail && *append.expected_tail != state->tail) {
    return fail(Error{
        ErrorCode::kStale,
        fmt::format("{} has its tail at {}, not at {}: read on from there and try again",
                    log_text(home, append.log), state->tail.value, append.expected_tail->value)}
                    .with(append.expected_tail->value, state->tail.value));
  }
  if (append.records.size() > kLogOffsetsMax - state->tail.value) {
    return fail(Error{ErrorCode::kTooLarge,
                      fmt::format("{} is full: {} records do not fit after offset {}, the limit "
                                  "is {}",
                                  log_text(home, append.log), append.records.size(),
                                  state->tail.value, kLogOffsetsMax)}
                    .with(kLogOffsetsMax, state->tail.value));
  }
  return {};
}

Result<void> check_row(std::string_view home, std::string_view space, std::string_view key,
                       std::optional<std::uint64_t> expected_version, std::string_view owner,
                       std::uint64_t version) {
  if (version != 0 && owner != home) {
    return fail(ErrorCode::kConflict,
                fmt::format("row '{}' of space '{}' belongs to '{}', not to '{}'", printable(key),
                            printable(space), printable(owner), printable(home)));
  }
  if (expected_version && *expected_version != version) {
    return fail(Error{ErrorCode::kStale,
                      fmt::format("row '{}' of space '{}' has version {}, not {}: read it and try "
                                  "again",
                                  printable(key), printable(space), version, *expected_version)}
                    .with(*expected_version, version));
  }
  return {};
}

Result<void> check_read(const LogKey& log, Offset from, const LogState& state) {
  if (from < state.first) {
    return fail(Error{ErrorCode::kGone,
                      fmt::format("{} was trimmed: offset {} is gone, the first one left is {}",
                                  log_text(log.home, log.log), from.value, state.first.value)}
                    .with(from.value, state.first.value));
  }
  if (from > state.tail) {
    return fail(Error{ErrorCode::kInvalidArgument,
                      fmt::format("{} has its tail at {}: there is no offset {} to read from",
                                  log_text(log.home, log.log), state.tail.value, from.value)}
                    .with(from.value, state.tail.value));
  }
  return {};
}

}  // namespace holdfast::core
