#include "core/log/names.h"

#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

#include <holdfast/store.h>
#include <holdfast/stream.h>

namespace holdfast::core {
namespace {

// The length of the well-formed UTF-8 sequence at the start of `text`, or 0.
std::size_t sequence_length(std::string_view text) noexcept {
  const auto at = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const auto continues = [&](std::size_t i) { return i < text.size() && (at(i) & 0xC0u) == 0x80u; };
  const std::uint8_t lead = at(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return continues(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    if (!continues(1) || !continues(2)) return 0;
    if (lead == 0xE0 && at(1) < 0xA0) return 0;  // overlong
    if (lead == 0xED && at(1) > 0x9F) return 0;  // surrogate
    return 3;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    if (!continues(1) || !continues(2) || !continues(3)) return 0;
    if (lead == 0xF0 && at(1) < 0x90) return 0;
    if (lead == 0xF4 && at(1) > 0x8F) return 0;
    return 4;
  }
  return 0;
}

bool is_control(std::string_view sequence) noexcept {
  const auto lead = static_cast<std::uint8_t>(sequence[0]);
  if (lead < 0x20 || lead == 0x7F) return true;
  // U+0080 to U+009F
  return lead == 0xC2 && sequence.size() > 1 && static_cast<std::uint8_t>(sequence[1]) < 0xA0;
}

std::unexpected<Error> too_long(std::string_view what, std::string_view name, std::size_t limit) {
  return fail(Error{ErrorCode::kInvalidArgument,
                    fmt::format("the {} name '{}' has {} bytes: the limit is {}", what,
                                printable(name), name.size(), limit)}
                  .with(limit, name.size()));
}

}  // namespace

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

Result<void> check_name(std::string_view what, std::string_view name) {
  if (name.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("the {} name is empty: give 1 to {} bytes", what, kNameBytesMax));
  }
  if (name.size() > kNameBytesMax) return too_long(what, name, kNameBytesMax);
  for (std::size_t at = 0; at < name.size();) {
    const std::string_view rest = name.substr(at);
    const std::size_t length = sequence_length(rest);
    if (length == 0 || is_control(rest.substr(0, length))) {
      return fail(
          ErrorCode::kInvalidArgument,
          fmt::format("the {} name '{}' has {} at byte {}: use printable UTF-8", what,
                      printable(name),
                      length == 0 ? "bytes that are not UTF-8" : "a control character", at));
    }
    at += length;
  }
  return {};
}

Result<void> check_stream_name(std::string_view name) {
  if (name.size() > kStreamNameBytesMax) return too_long("stream", name, kStreamNameBytesMax);
  if (auto ok = check_name("stream", name); !ok) return ok;
  std::string_view rest = name;
  for (;;) {
    const std::size_t slash = rest.find('/');
    const std::string_view part = rest.substr(0, slash);
    if (part.empty() || part == "." || part == "..") {
      return fail(
          ErrorCode::kInvalidArgument,
          fmt::format(
              "the stream name '{}' has the part '{}': parts between slashes must not be empty, "
              "'.' or '..'",
              printable(name), part));
    }
    if (slash == std::string_view::npos) return {};
    rest.remove_prefix(slash + 1);
  }
}

std::string printable(std::string_view text) {
  constexpr std::size_t kShownMax = 80;
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (out.size() >= kShownMax) return out + "…";
    const std::string_view rest = text.substr(at);
    const std::size_t length = sequence_length(rest);
    if (length == 0 || is_control(rest.substr(0, length))) {
      out += fmt::format("\\x{:02x}", static_cast<std::uint8_t>(rest[0]));
      at += 1;
    } else {
      out.append(rest.substr(0, length));
      at += length;
    }
  }
  return out;
}

}  // namespace holdfast::core
