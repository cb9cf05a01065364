// JSON as the program prints it with --json: one object to a line.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/clock.h>
#include <holdfast/result.h>
#include <holdfast/sqlite_store.h>
#include <holdfast/stream.h>

namespace holdfast::cli {

/// Builds one object, members in the order they are added. Text must be UTF-8; use `bytes` for what
/// may not be.
class JsonObject {
 public:
  JsonObject& add(std::string_view name, std::string_view value);
  JsonObject& add(std::string_view name, const char* value) {
    return add(name, std::string_view{value});
  }
  template <std::unsigned_integral T>
    requires(!std::same_as<T, bool>)
  JsonObject& add(std::string_view name, T value) {
    return number(name, value);
  }
  JsonObject& add(std::string_view name, bool value);
  JsonObject& add(std::string_view name, const JsonObject& value);
  JsonObject& add(std::string_view name, const std::vector<std::string>& values);
  /// Exact bytes: `name` holds them as text if they are UTF-8, else `name`Base64 in base 64.
  JsonObject& bytes(std::string_view name, BytesView value);
  /// "{...}" without a newline.
  [[nodiscard]] std::string text() const { return body_ + "}"; }
  [[nodiscard]] std::string line() const { return body_ + "}\n"; }

 private:
  JsonObject& number(std::string_view name, std::uint64_t value);
  void key(std::string_view name);
  std::string body_ = "{";
};

/// A string with quotes, escaped.
[[nodiscard]] std::string json_string(std::string_view text);
[[nodiscard]] std::string base64(BytesView bytes);

[[nodiscard]] JsonObject stream_json(const StreamInfo& info);
[[nodiscard]] JsonObject chunk_json(const Chunk& chunk);
[[nodiscard]] JsonObject appended_json(const Appended& appended);
/// {"error":{"code":…,"message":…,"remedy":…,"expected":…,"actual":…}}
[[nodiscard]] JsonObject error_json(const Error& error);

}  // namespace holdfast::cli
