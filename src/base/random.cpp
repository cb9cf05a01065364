#include <holdfast/random.h>

#include <bit>
#include <random>

#include <holdfast/check.h>

namespace holdfast {
namespace {

// splitmix64, the seeding that the authors of xoshiro recommend.
std::uint64_t splitmix(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

}  // namespace

Random::Random(std::uint64_t seed) {
  for (auto& word : state_) word = splitmix(seed);
}

Random Random::from_system() {
  std::random_device device;
  return Random{(std::uint64_t{device()} << 32) | device()};
}

std::uint64_t Random::next() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

std::uint64_t Random::below(std::uint64_t bound) {
  HOLDFAST_CHECK(bound != 0, "no number lies below 0");
  const std::uint64_t limit = ~std::uint64_t{0} - (~std::uint64_t{0} % bound + 1) % bound;
  for (;;) {
    const std::uint64_t value = next();
    if (value <= limit) return value % bound;
  }
}

}  // namespace holdfast
