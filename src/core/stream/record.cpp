#include "core/stream/record.h"

#include "core/stream/row_codec.h"

namespace holdfast::core {
namespace {

constexpr std::uint8_t kVersion = 1;

// An optional number: 0 for none, else the number and one.
void put_optional(RowWriter& writer, const std::optional<std::uint64_t>& value) {
  writer.number(value ? 1 : 0);
  if (value) writer.number(*value);
}
std::optional<std::uint64_t> get_optional(RowReader& reader) {
  if (reader.number() == 0) return std::nullopt;
  return reader.number();
}
template <typename Duration>
std::optional<std::uint64_t> count_of(const std::optional<Duration>& value) {
  if (!value) return std::nullopt;
  return static_cast<std::uint64_t>(value->count());
}
template <typename Duration>
std::optional<Duration> duration_of(const std::optional<std::uint64_t>& value) {
  if (!value) return std::nullopt;
  return Duration{static_cast<typename Duration::rep>(*value)};
}

Ulid get_ulid(RowReader& reader, bool& bad) {
  const auto text = reader.text();
  if (text.empty()) return {};
  const auto id = Ulid::parse(text);
  bad = bad || !id.has_value();
  return id.value_or(Ulid{});
}

}  // namespace

Bytes encode_record(const StreamRecord& record) {
  RowWriter writer{kVersion};
  writer.text(record.id.text()).text(record.content_type);
  put_optional(writer, count_of(record.ttl));
  put_optional(writer, record.expires_at
                           ? std::optional{static_cast<std::uint64_t>(record.expires_at->ms)}
                           : std::nullopt);
  writer.number(static_cast<std::uint64_t>(record.created.ms));
  writer.text(record.source);
  writer.text(record.source.empty() ? std::string{} : record.source_id.text());
  writer.number(record.fork_at.value).number(record.sub_offset).number(record.base.value);
  writer.number(record.segments.size());
  for (const Segment& segment : record.segments)
    writer.text(segment.name).text(segment.id.text()).number(segment.end.value);
  writer.number(record.first.value);
  put_optional(writer, record.retention.chunks_max);
  put_optional(writer, record.retention.bytes_max);
  put_optional(writer, count_of(record.retention.age_max));
  writer.number(record.forks).number(record.deleted ? 1 : 0);
  return std::move(writer).take();
}

Result<StreamRecord> decode_record(BytesView bytes) {
  RowReader reader{"a stream", bytes, kVersion};
  StreamRecord record;
  bool bad = false;
  record.id = get_ulid(reader, bad);
  record.content_type = reader.text();
  record.ttl = duration_of<std::chrono::seconds>(get_optional(reader));
  if (const auto at = get_optional(reader))
    record.expires_at = Timestamp{static_cast<std::int64_t>(*at)};
  record.created = {static_cast<std::int64_t>(reader.number())};
  record.source = reader.text();
  record.source_id = get_ulid(reader, bad);
  record.fork_at = {reader.number()};
  record.sub_offset = reader.number();
  record.base = {reader.number()};
  const std::uint64_t segments = reader.number();
  bad = bad || segments > kSegmentsMax;
  for (std::uint64_t i = 0; i < segments && reader.good() && !bad; ++i) {
    Segment segment;
    segment.name = reader.text();
    segment.id = get_ulid(reader, bad);
    segment.end = {reader.number()};
    record.segments.push_back(std::move(segment));
  }
  record.first = {reader.number()};
  record.retention.chunks_max = get_optional(reader);
  record.retention.bytes_max = get_optional(reader);
  record.retention.age_max = duration_of<std::chrono::milliseconds>(get_optional(reader));
  record.forks = reader.number();
  record.deleted = reader.number() != 0;
  if (auto good = reader.finish(); !good) return fail(good.error());
  if (bad)
    return fail(ErrorCode::kCorrupt, "the row of a stream holds what cannot be; check the store");
  return record;
}

std::string stream_home(std::string_view name) { return "stream/" + std::string{name}; }

LogKey stream_log(std::string_view name, const Ulid& id) { return {stream_home(name), id.text()}; }

}  // namespace holdfast::core
