#include "core/stream/lifecycle.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "core/log/names.h"
#include "core/stream/row_codec.h"

namespace holdfast::core {
namespace {

constexpr std::uint8_t kDeadlineVersion = 1;
constexpr std::size_t kContentTypeBytesMax = 256;
constexpr std::chrono::milliseconds kSlackMax = std::chrono::hours{1};
// Some 300,000 years: sums of times stay far from overflow.
constexpr std::int64_t kTtlSecondsMax = 10'000'000'000'000;

std::string show(const std::optional<std::chrono::seconds>& ttl) {
  return ttl ? fmt::format("{} s", ttl->count()) : "none";
}
std::string show(const std::optional<Timestamp>& at) {
  return at ? fmt::format("{} ms since 1970", at->ms) : "none";
}

}  // namespace

std::string normal_content_type(std::string_view content_type) {
  std::string_view type = content_type.substr(0, content_type.find(';'));
  while (!type.empty() && (type.back() == ' ' || type.back() == '\t')) type.remove_suffix(1);
  while (!type.empty() && (type.front() == ' ' || type.front() == '\t')) type.remove_prefix(1);
  if (type.empty()) return "application/octet-stream";
  std::string out{type};
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

bool is_json(std::string_view content_type) {
  return normal_content_type(content_type) == "application/json";
}

Result<void> check_options(const StreamOptions& options) {
  if (options.ttl && options.expires_at) {
    return fail(ErrorCode::kInvalidArgument,
                "a stream has a ttl or a moment of expiry, not both: give one of them");
  }
  if (options.ttl && (options.ttl->count() < 0 || options.ttl->count() > kTtlSecondsMax)) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("a ttl of {} s cannot be: give 0 to {}",
                                                         options.ttl->count(), kTtlSecondsMax));
  }
  if (options.expires_at && options.expires_at->ms < 0) {
    return fail(ErrorCode::kInvalidArgument, "a moment of expiry before 1970 cannot be");
  }
  if (options.retention.age_max && options.retention.age_max->count() < 0) {
    return fail(ErrorCode::kInvalidArgument, "an age to keep must not be negative");
  }
  const std::string_view type = options.content_type;
  if (type.size() > kContentTypeBytesMax ||
      std::ranges::any_of(type, [](char c) { return c < 0x20 || c == 0x7F; })) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("the content type '{}' cannot be: give at most {} bytes of ASCII "
                            "without control characters",
                            printable(type), kContentTypeBytesMax));
  }
  return {};
}

Result<void> decide_same(std::string_view name, const StreamRecord& record, bool closed,
                         const StreamOptions& options, std::string_view source,
                         const ForkOptions* where) {
  if (record.deleted) return fail(kept_for_forks(name, ErrorCode::kConflict));
  const auto differs = [&](std::string_view what, std::string_view has, std::string_view asked) {
    return fail(ErrorCode::kAlreadyExists,
                fmt::format("the stream '{}' exists with {} {}, not {}: open it as it is, or "
                            "choose another name",
                            printable(name), what, printable(has), printable(asked)));
  };
  if (where != nullptr) {
    if (record.source != source) {
      return differs("source", record.source.empty() ? "none" : record.source, source);
    }
    if (where->at && *where->at != record.fork_at) {
      return differs("fork offset", std::to_string(record.fork_at.value),
                     std::to_string(where->at->value));
    }
    if (where->sub_offset != record.sub_offset) {
      return differs("sub-offset", std::to_string(record.sub_offset),
                     std::to_string(where->sub_offset));
    }
  }
  // What a fork was not given it has from its source.
  const bool inherits = where != nullptr;
  if (!(inherits && options.content_type.empty()) &&
      normal_content_type(options.content_type) != normal_content_type(record.content_type)) {
    return differs("content type", record.content_type, normal_content_type(options.content_type));
  }
  if (!inherits || options.ttl || options.expires_at) {
    if (options.ttl != record.ttl) return differs("ttl", show(record.ttl), show(options.ttl));
    if (options.expires_at != record.expires_at)
      return differs("expiry", show(record.expires_at), show(options.expires_at));
  }
  if (options.retention != Retention{} && options.retention != record.retention)
    return differs("retention", "other limits", "those given");
  // One that was closed since is still the one that was asked for.
  if (options.closed && !closed) return differs("state", "open", "closed");
  return {};
}

std::chrono::milliseconds ttl_slack(std::chrono::seconds ttl) {
  const std::chrono::milliseconds eighth = std::chrono::milliseconds{ttl} / 8;
  return std::clamp(eighth, std::chrono::milliseconds{1}, kSlackMax);
}

Timestamp slide_deadline(std::chrono::seconds ttl, Timestamp now, Timestamp current) {
  const std::int64_t to = now.ms + std::chrono::milliseconds{ttl}.count() + ttl_slack(ttl).count();
  return {std::max(to, current.ms)};
}

bool must_slide(std::chrono::seconds ttl, Timestamp now, Timestamp current) {
  return now.ms + std::chrono::milliseconds{ttl}.count() > current.ms;
}

Bytes encode_deadline(Timestamp deadline) {
  RowWriter writer{kDeadlineVersion};
  writer.number(static_cast<std::uint64_t>(deadline.ms));
  return std::move(writer).take();
}

Result<Timestamp> decode_deadline(BytesView bytes) {
  RowReader reader{"a stream's deadline", bytes, kDeadlineVersion};
  const Timestamp deadline{static_cast<std::int64_t>(reader.number())};
  if (auto good = reader.finish(); !good) return fail(good.error());
  return deadline;
}

Error no_such_stream(std::string_view name) {
  return {ErrorCode::kNotFound,
          fmt::format("there is no stream '{}': create it, or check its name", printable(name))};
}

Error kept_for_forks(std::string_view name, ErrorCode code) {
  return {code, fmt::format("the stream '{}' was deleted and is kept for its forks only: remove "
                            "those first, or choose another name",
                            printable(name))};
}

}  // namespace holdfast::core
