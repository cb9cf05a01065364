#include <holdfast/ids.h>

#include <cstddef>

#include <holdfast/random.h>

namespace holdfast {
namespace {

constexpr std::string_view kAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
constexpr std::size_t kTextLength = 26;

// 26 digits of 5 bits hold 130 bits: the first digit carries only 3.
constexpr std::size_t kSpareBits = kTextLength * 5 - 128;

int digit_value(char c) {
  if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  const auto at = kAlphabet.find(c);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

}  // namespace

Ulid Ulid::make(std::uint64_t time_ms, Random& random) {
  Ulid id;
  for (std::size_t i = 0; i < 6; ++i)
    id.bytes_[i] = static_cast<std::uint8_t>(time_ms >> (40 - 8 * i));
  const std::uint64_t high = random.next();
  const std::uint64_t low = random.next();
  for (std::size_t i = 0; i < 8; ++i) id.bytes_[6 + i] = static_cast<std::uint8_t>(high >> (8 * i));
  id.bytes_[14] = static_cast<std::uint8_t>(low);
  id.bytes_[15] = static_cast<std::uint8_t>(low >> 8);
  return id;
}

Result<Ulid> Ulid::parse(std::string_view text) {
  const auto refuse = [&] {
    return fail(ErrorCode::kInvalidArgument, "'" + std::string{text.substr(0, 64)} +
                                                 "' is not a ULID: give 26 characters of 0-9 and "
                                                 "A-Z without I, L, O and U, the first at most 7");
  };
  if (text.size() != kTextLength || digit_value(text[0]) > 7) return refuse();
  Ulid id;
  for (std::size_t i = 0; i < kTextLength; ++i) {
    const int value = digit_value(text[i]);
    if (value < 0) return refuse();
    for (std::size_t bit = 0; bit < 5; ++bit) {
      const std::size_t place = i * 5 + bit;
      if (place < kSpareBits || ((value >> (4 - bit)) & 1) == 0) continue;
      const std::size_t at = place - kSpareBits;
      id.bytes_[at / 8] = static_cast<std::uint8_t>(id.bytes_[at / 8] | (0x80u >> (at % 8)));
    }
  }
  return id;
}

std::string Ulid::text() const {
  std::string out(kTextLength, '0');
  for (std::size_t i = 0; i < kTextLength; ++i) {
    unsigned value = 0;
    for (std::size_t bit = 0; bit < 5; ++bit) {
      const std::size_t place = i * 5 + bit;
      value <<= 1;
      if (place < kSpareBits) continue;
      const std::size_t at = place - kSpareBits;
      if ((bytes_[at / 8] & (0x80u >> (at % 8))) != 0) value |= 1u;
    }
    out[i] = kAlphabet[value];
  }
  return out;
}

std::uint64_t Ulid::time_ms() const {
  std::uint64_t ms = 0;
  for (std::size_t i = 0; i < 6; ++i) ms = (ms << 8) | bytes_[i];
  return ms;
}

}  // namespace holdfast
