#include "base/json.h"

#include <cstdint>
#include <string>

#include <fmt/format.h>
#include <simdjson.h>

namespace holdfast {
namespace {

constexpr bool is_space(char c) noexcept { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
constexpr bool is_hex(char c) noexcept {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// The careful reader: one pass, byte by byte, that knows where it stands. It runs when the fast one
// has refused a text (to name the byte, or to accept a number that only the fast one finds too
// long) and where positions are wanted.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_{text} {}

  // Each returns false after setting what_ and leaving at_ on the offending byte.
  bool value() {
    std::string open;  // the closers that are due, innermost last
    for (;;) {
      skip_space();
      if (end()) return refuse("the text ends where a value should begin");
      const char c = text_[at_];
      if (c == '{' || c == '[') {
        if (open.size() >= kJsonDepthMax) return refuse("it nests too deep");
        open.push_back(c == '{' ? '}' : ']');
        ++at_;
        skip_space();
        if (!end() && text_[at_] == open.back()) {
          ++at_;
          open.pop_back();
        } else {
          if (c == '{' && !key()) return false;
          continue;
        }
      } else if (!scalar(c)) {
        return false;
      }
      bool more = false;
      while (!open.empty() && !more) {
        skip_space();
        if (end()) return refuse("the text ends inside an array or object");
        if (text_[at_] == open.back()) {
          ++at_;
          open.pop_back();
        } else if (text_[at_] == ',') {
          ++at_;
          skip_space();
          if (open.back() == '}' && !key()) return false;
          more = true;
        } else {
          return refuse(open.back() == '}' ? "a comma or '}' should stand here"
                                           : "a comma or ']' should stand here");
        }
      }
      if (!more) return true;
    }
  }

  void skip_space() noexcept {
    while (!end() && is_space(text_[at_])) ++at_;
  }
  [[nodiscard]] bool end() const noexcept { return at_ >= text_.size(); }
  [[nodiscard]] std::size_t at() const noexcept { return at_; }
  [[nodiscard]] char here() const noexcept { return text_[at_]; }
  void step() noexcept { ++at_; }
  bool refuse(std::string_view what) noexcept {
    what_ = what;
    return false;
  }
  [[nodiscard]] std::unexpected<Error> error() const {
    return fail(
        Error{ErrorCode::kInvalidArgument, fmt::format("not valid JSON at byte {}: {}", at_, what_)}
            .with(0, at_));
  }

 private:
  bool key() {
    if (end() || text_[at_] != '"') return refuse("a member's name in quotes should stand here");
    if (!string()) return false;
    skip_space();
    if (end() || text_[at_] != ':') return refuse("a colon should stand here");
    ++at_;
    return true;
  }

  bool scalar(char c) {
    if (c == '"') return string();
    if (c == '-' || is_digit(c)) return number();
    for (const std::string_view word : {"true", "false", "null"}) {
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return true;
      }
    }
    return refuse("no value begins like this");
  }

  bool number() {
    if (text_[at_] == '-') ++at_;
    if (end() || !is_digit(text_[at_])) return refuse("a digit should stand here");
    if (text_[at_] == '0') {
      ++at_;
      if (!end() && is_digit(text_[at_])) return refuse("a number must not begin with 0");
    }
    digits();
    if (!end() && text_[at_] == '.') {
      ++at_;
      if (!digits()) return refuse("a digit should stand here");
    }
    if (!end() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      ++at_;
      if (!end() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      if (!digits()) return refuse("a digit should stand here");
    }
    return true;
  }

  bool digits() noexcept {
    const std::size_t from = at_;
    while (!end() && is_digit(text_[at_])) ++at_;
    return at_ > from;
  }

  bool string() {
    ++at_;
    while (!end()) {
      const auto c = static_cast<std::uint8_t>(text_[at_]);
      if (c == '"') {
        ++at_;
        return true;
      }
      if (c < 0x20) return refuse("a control character must be escaped in a string");
      if (c == '\\') {
        if (!escape()) return false;
      } else if (c < 0x80) {
        ++at_;
      } else if (!utf8(c)) {
        return false;
      }
    }
    return refuse("the text ends inside a string");
  }

  bool escape() {
    if (at_ + 1 >= text_.size()) return refuse("the text ends inside a string");
    const char c = text_[at_ + 1];
    if (c == 'u') {
      for (std::size_t i = at_ + 2; i < at_ + 6; ++i) {
        if (i >= text_.size() || !is_hex(text_[i]))
          return refuse("\\u takes four hexadecimal digits");
      }
      at_ += 6;
      return true;
    }
    if (std::string_view{"\"\\/bfnrt"}.find(c) == std::string_view::npos)
      return refuse("no such escape");
    at_ += 2;
    return true;
  }

  bool utf8(std::uint8_t lead) noexcept {
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    const auto byte = [&](std::size_t i) {
      return at_ + i < text_.size() ? static_cast<std::uint8_t>(text_[at_ + i]) : 0u;
    };
    bool good = lead >= 0xC2 && lead <= 0xF4;
    for (std::size_t i = 1; good && i < length; ++i) good = (byte(i) & 0xC0u) == 0x80u;
    if (good && lead == 0xE0) good = byte(1) >= 0xA0;
    if (good && lead == 0xED) good = byte(1) <= 0x9F;
    if (good && lead == 0xF0) good = byte(1) >= 0x90;
    if (good && lead == 0xF4) good = byte(1) <= 0x8F;
    if (!good) return refuse("these bytes are not UTF-8");
    at_ += length;
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string_view what_;
};

// Accepts most good texts at once; refuses some that are good (numbers beyond 64 bits).
bool fast_accepts(std::string_view text) {
  thread_local simdjson::dom::parser parser{1u << 20};
  if (text.size() > parser.max_capacity()) return false;
  return parser.parse(text.data(), text.size()).error() == simdjson::SUCCESS;
}

Result<void> check_slowly(std::string_view text) {
  Scanner scanner{text};
  if (!scanner.value()) return scanner.error();
  scanner.skip_space();
  if (!scanner.end()) {
    scanner.refuse("the value has ended; nothing may follow it");
    return scanner.error();
  }
  return {};
}

}  // namespace

Result<void> check_json(std::string_view text) {
  if (fast_accepts(text)) return {};
  return check_slowly(text);
}

bool looks_like_json_array(std::string_view text) noexcept {
  for (const char c : text) {
    if (!is_space(c)) return c == '[';
  }
  return false;
}

Result<std::vector<std::string_view>> split_json_array(std::string_view text) {
  std::vector<std::string_view> elements;
  Scanner scanner{text};
  scanner.skip_space();
  if (scanner.end() || scanner.here() != '[') {
    scanner.refuse("an array should begin here");
    return scanner.error();
  }
  scanner.step();
  scanner.skip_space();
  bool done = !scanner.end() && scanner.here() == ']';
  if (done) scanner.step();
  while (!done) {
    scanner.skip_space();
    const std::size_t from = scanner.at();
    if (!scanner.value()) return scanner.error();
    elements.push_back(text.substr(from, scanner.at() - from));
    scanner.skip_space();
    if (scanner.end() || (scanner.here() != ',' && scanner.here() != ']')) {
      scanner.refuse(scanner.end() ? "the text ends inside an array or object"
                                   : "a comma or ']' should stand here");
      return scanner.error();
    }
    done = scanner.here() == ']';
    scanner.step();
  }
  scanner.skip_space();
  if (!scanner.end()) {
    scanner.refuse("the value has ended; nothing may follow it");
    return scanner.error();
  }
  return elements;
}

}  // namespace holdfast
