#include "http/json_body.h"

#include <fmt/format.h>

#include "http/url.h"

namespace holdfast::http {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

BytesView without_blanks(BytesView text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == BytesView::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::unexpected<Error> broken(std::size_t at, std::string_view what) {
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("the body is not valid JSON: {} at byte {}", what, at));
}

}  // namespace

Result<std::vector<BytesView>> split_json_body(BytesView body) {
  const BytesView text = without_blanks(body);
  if (text.empty()) return broken(0, "nothing but blanks");
  if (text.front() != '[') return std::vector<BytesView>{text};
  const auto base = static_cast<std::size_t>(text.data() - body.data());
  std::vector<BytesView> values;
  std::size_t depth = 1;
  std::size_t begin = 1;
  bool in_string = false;
  for (std::size_t i = 1; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_string = false;
      }
      continue;
    }
    if (c == '"') in_string = true;
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    const bool ends = depth == 0;
    if (ends || (depth == 1 && c == ',')) {
      if (ends && (c != ']' || i + 1 != text.size()))
        return broken(base + i, "an unmatched bracket");
      const BytesView value = without_blanks(text.substr(begin, i - begin));
      if (value.empty()) {
        if (ends && values.empty() && begin == 1) return values;
        return broken(base + i, "a missing value");
      }
      values.push_back(value);
      begin = i + 1;
    }
  }
  if (depth != 0) return broken(base + text.size(), "the end came too early");
  return values;
}

std::string json_array(std::span<const Chunk> chunks) {
  std::size_t size = 2 + chunks.size();
  for (const Chunk& chunk : chunks) size += chunk.bytes.size();
  std::string text;
  text.reserve(size);
  text.push_back('[');
  for (const Chunk& chunk : chunks) {
    if (text.size() > 1) text.push_back(',');
    text.append(chunk.bytes);
  }
  text.push_back(']');
  return text;
}

std::string_view media_type(std::string_view content_type) {
  return trimmed(content_type.substr(0, content_type.find(';')));
}

bool is_json(std::string_view content_type) {
  return equals_ignoring_case(media_type(content_type), "application/json");
}

bool is_text(std::string_view content_type) {
  const std::string_view type = media_type(content_type);
  return is_json(type) || equals_ignoring_case(type.substr(0, 5), "text/");
}

}  // namespace holdfast::http
