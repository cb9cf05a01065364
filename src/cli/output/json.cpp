#include "cli/output/json.h"

#include <fmt/format.h>

#include "cli/output/text.h"
#include "core/log/names.h"

namespace holdfast::cli {

std::string json_string(std::string_view text) {
  std::string out = "\"";
  out.reserve(text.size() + 2);
  for (const char c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else {
          out += c;
        }
    }
  }
  return out + "\"";
}

std::string base64(BytesView bytes) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      const bool there = i + j < bytes.size();
      group = (group << 8) | (there ? static_cast<std::uint8_t>(bytes[i + j]) : 0u);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      const bool padding = i + j > bytes.size();
      out += padding ? '=' : kAlphabet[(group >> (18 - 6 * j)) & 0x3Fu];
    }
  }
  return out;
}

void JsonObject::key(std::string_view name) {
  if (body_.size() > 1) body_ += ',';
  body_ += json_string(name);
  body_ += ':';
}

JsonObject& JsonObject::add(std::string_view name, std::string_view value) {
  key(name);
  body_ += json_string(value);
  return *this;
}

JsonObject& JsonObject::number(std::string_view name, std::uint64_t value) {
  key(name);
  fmt::format_to(std::back_inserter(body_), "{}", value);
  return *this;
}

JsonObject& JsonObject::add(std::string_view name, bool value) {
  key(name);
  body_ += value ? "true" : "false";
  return *this;
}

JsonObject& JsonObject::add(std::string_view name, const JsonObject& value) {
  key(name);
  body_ += value.text();
  return *this;
}

JsonObject& JsonObject::add(std::string_view name, const std::vector<std::string>& values) {
  key(name);
  body_ += '[';
  for (std::size_t i = 0; i < values.size(); ++i) {
    body_ += (i > 0 ? "," : "") + json_string(values[i]);
  }
  body_ += ']';
  return *this;
}

JsonObject& JsonObject::bytes(std::string_view name, BytesView value) {
  if (core::is_utf8(value)) return add(name, value);
  return add(std::string{name} + "Base64", base64(value));
}

JsonObject stream_json(const StreamInfo& info) {
  JsonObject out;
  out.add("name", info.name).add("id", info.id.text()).add("contentType", info.content_type);
  out.add("first", info.first.value).add("tail", info.tail.value).add("closed", info.closed);
  out.add("bytes", info.bytes).add("created", time_iso(info.created));
  if (info.ttl) out.add("ttlSeconds", static_cast<std::uint64_t>(info.ttl->count()));
  if (info.expires_at) out.add("expiresAt", time_iso(*info.expires_at));
  if (info.retention != Retention{}) {
    JsonObject keep;
    if (info.retention.chunks_max) keep.add("chunks", *info.retention.chunks_max);
    if (info.retention.bytes_max) keep.add("bytes", *info.retention.bytes_max);
    if (info.retention.age_max) {
      keep.add("ageMs", static_cast<std::uint64_t>(info.retention.age_max->count()));
    }
    out.add("keep", keep);
  }
  if (!info.forked_from.empty()) {
    out.add("forkedFrom", info.forked_from).add("forkOffset", info.fork_offset.value);
  }
  return out;
}

JsonObject chunk_json(const Chunk& chunk) {
  JsonObject out;
  out.add("offset", chunk.offset.value).add("next", chunk.next.value).bytes("data", chunk.bytes);
  return out;
}

JsonObject appended_json(const Appended& appended) {
  JsonObject out;
  out.add("first", appended.first.value).add("next", appended.next.value);
  out.add("duplicate", appended.duplicate).add("closed", appended.closed);
  return out;
}

JsonObject error_json(const Error& error) {
  JsonObject inside;
  inside.add("code", error_name(error.code));
  inside.bytes("message", error.message);
  inside.add("remedy", remedy_name(error.remedy));
  inside.add("expected", error.expected).add("actual", error.actual);
  JsonObject out;
  out.add("error", inside);
  return out;
}

}  // namespace holdfast::cli
