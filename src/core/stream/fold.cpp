#include "core/stream/fold.h"

#include <cstdint>

namespace holdfast::core {
namespace {

constexpr std::string_view kMember = "delta";

// A reader of just enough JSON to find a top-level member. It refuses what it does not know; it
// need not name why. Values that are skipped are only balanced, not validated.
class Finder {
 public:
  explicit Finder(std::string_view line) : line_{line} {}

  std::optional<DeltaPlace> find() {
    std::optional<DeltaPlace> found;
    space();
    if (!take('{')) return std::nullopt;
    space();
    if (peek() == '}') return std::nullopt;
    for (;;) {
      const auto key = string();
      if (!key) return std::nullopt;
      space();
      if (!take(':')) return std::nullopt;
      space();
      if (line_.substr(key->begin, key->end - key->begin) == kMember) {
        if (found || peek() != '"') return std::nullopt;
        found = string();
        if (!found) return std::nullopt;
      } else if (!skip_value()) {
        return std::nullopt;
      }
      space();
      if (take('}')) break;
      if (!take(',')) return std::nullopt;
      space();
    }
    space();
    return at_ == line_.size() ? found : std::nullopt;
  }

 private:
  [[nodiscard]] char peek() const { return at_ < line_.size() ? line_[at_] : '\0'; }
  bool take(char c) {
    if (peek() != c || at_ >= line_.size()) return false;
    ++at_;
    return true;
  }
  void space() {
    while (at_ < line_.size() &&
           (line_[at_] == ' ' || line_[at_] == '\t' || line_[at_] == '\n' || line_[at_] == '\r')) {
      ++at_;
    }
  }
  std::optional<DeltaPlace> string() {
    if (!take('"')) return std::nullopt;
    const std::size_t begin = at_;
    while (at_ < line_.size()) {
      const char c = line_[at_];
      if (c == '"') {
        ++at_;
        return DeltaPlace{begin, at_ - 1};
      }
      if (static_cast<std::uint8_t>(c) < 0x20) return std::nullopt;
      at_ += c == '\\' ? 2 : 1;
    }
    return std::nullopt;
  }
  bool skip_value() {
    std::size_t depth = 0;
    for (;;) {
      const char c = peek();
      if (at_ >= line_.size()) return false;
      if (c == '"') {
        if (!string()) return false;
      } else if (c == '{' || c == '[') {
        ++depth;
        ++at_;
      } else if (c == '}' || c == ']') {
        if (depth == 0) return false;
        --depth;
        ++at_;
      } else if (depth == 0) {
        return scalar();
      } else {
        ++at_;
      }
      if (depth == 0) return true;
    }
  }
  bool scalar() {
    const std::size_t from = at_;
    while (at_ < line_.size() &&
           std::string_view{",}] \t\r\n\""}.find(line_[at_]) == std::string_view::npos) {
      ++at_;
    }
    return at_ > from;
  }

  std::string_view line_;
  std::size_t at_ = 0;
};

// Whether these bytes could stand between the quotes of a JSON string.
bool is_string_contents(std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const char c = bytes[i];
    if (c == '"' || static_cast<std::uint8_t>(c) < 0x20) return false;
    if (c == '\\' && ++i >= bytes.size()) return false;
  }
  return true;
}

}  // namespace

std::optional<DeltaPlace> find_delta(std::string_view line) { return Finder{line}.find(); }

bool Folder::joins(std::string_view line) const {
  DeltaPlace place;
  return joins(line, place);
}

bool Folder::joins(std::string_view line, DeltaPlace& place) const {
  if (!open_ || line.size() < prefix_ + suffix_.size()) return false;
  const std::string_view prefix = std::string_view{bytes_}.substr(line_.begin, prefix_);
  if (!line.starts_with(prefix) || !line.ends_with(suffix_)) return false;
  // The prefix ends inside the delta's string and the suffix begins with its closing quote, in this
  // line as in the open one; so contents without a quote make the same line.
  place = {prefix_, line.size() - suffix_.size()};
  if (!is_string_contents(line.substr(place.begin, place.end - place.begin))) return false;
  const std::size_t grown =
      bytes_.size() - line_.begin + (place.end - place.begin) + suffix_.size();
  return grown <= line_bytes_max_;
}

void Folder::push(std::string_view line, Offset offset, Offset next) {
  DeltaPlace place;
  if (joins(line, place)) {
    bytes_.append(line.substr(place.begin, place.end - place.begin));
    line_.next = next;
    return;
  }
  finish();
  line_ = {offset, next, bytes_.size(), 0};
  if (const auto delta = find_delta(line)) {
    open_ = true;
    prefix_ = delta->begin;
    bytes_.append(line.substr(0, delta->end));
    suffix_ = line.substr(delta->end);
  } else {
    bytes_.append(line);
    line_.size = line.size();
    lines_.push_back(line_);
  }
}

void Folder::finish() {
  if (!open_) return;
  open_ = false;
  bytes_.append(suffix_);
  line_.size = bytes_.size() - line_.begin;
  lines_.push_back(line_);
}

}  // namespace holdfast::core
