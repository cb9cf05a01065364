#include "engine/streams/rows.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "core/stream/row_codec.h"
#include "engine/streams/core.h"

namespace holdfast::engine {
namespace {

constexpr std::uint8_t kVersion = 1;
constexpr std::size_t kTimeDigits = 16;

Ulid ulid_or_none(std::string_view text) { return Ulid::parse(text).value_or(Ulid{}); }

}  // namespace

std::string due_time_key(Timestamp at) {
  return fmt::format("{:016x}", static_cast<std::uint64_t>(std::max<std::int64_t>(at.ms, 0)));
}

Timestamp due_time(std::string_view key) {
  std::uint64_t value = 0;
  const auto digits = key.substr(0, kTimeDigits);
  std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  return {static_cast<std::int64_t>(value)};
}

RowPut due_row(Timestamp at, DueKind kind, std::string_view name, const Ulid& id) {
  core::RowWriter writer{kVersion};
  writer.number(static_cast<std::uint64_t>(kind)).text(name).text(id.text());
  return {std::string{kDueSpace},
          fmt::format("{}/{}/{}/{}", due_time_key(at), static_cast<int>(kind), name, id.text()),
          std::move(writer).take(),
          {}};
}

Result<Due> decode_due(BytesView bytes) {
  core::RowReader reader{"what is due", bytes, kVersion};
  Due due;
  due.kind = static_cast<DueKind>(reader.number());
  due.name = reader.text();
  due.id = ulid_or_none(reader.text());
  if (auto good = reader.finish(); !good) return fail(std::move(good.error()));
  return due;
}

std::string owed_key(const Owed& owed) {
  const Ulid& distinct = owed.kind == OwedKind::kPin ? owed.other_id : owed.id;
  return fmt::format("{}/{}/{}", owed.name, distinct.text(), static_cast<int>(owed.kind));
}

RowPut owed_row(const Owed& owed) {
  core::RowWriter writer{kVersion};
  writer.number(static_cast<std::uint64_t>(owed.kind)).text(owed.name).text(owed.id.text());
  writer.text(owed.other).text(owed.other_id.text());
  writer.number(static_cast<std::uint64_t>(owed.since.ms));
  return {std::string{kOutboxSpace}, owed_key(owed), std::move(writer).take(), {}};
}

Result<Owed> decode_owed(BytesView bytes) {
  core::RowReader reader{"what is owed", bytes, kVersion};
  Owed owed;
  owed.kind = static_cast<OwedKind>(reader.number());
  owed.name = reader.text();
  owed.id = ulid_or_none(reader.text());
  owed.other = reader.text();
  owed.other_id = ulid_or_none(reader.text());
  owed.since = {static_cast<std::int64_t>(reader.number())};
  if (auto good = reader.finish(); !good) return fail(std::move(good.error()));
  return owed;
}

std::string joined(std::string_view a, std::string_view b) { return fmt::format("{}/{}", a, b); }

}  // namespace holdfast::engine
