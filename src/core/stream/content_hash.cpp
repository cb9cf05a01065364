#include "core/stream/content_hash.h"

#include <xxhash.h>

namespace holdfast::core {
namespace {

ContentHash from(const XXH128_hash_t& hash) { return {hash.low64, hash.high64}; }

}  // namespace

ContentHash hash_content(std::string_view bytes) {
  return from(XXH3_128bits(bytes.data(), bytes.size()));
}

struct RunningHash::State {
  State() : xxh{XXH3_createState()} { XXH3_128bits_reset(xxh); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { XXH3_freeState(xxh); }
  XXH3_state_t* xxh;
};

RunningHash::RunningHash() : state_{std::make_unique<State>()} {}
RunningHash::RunningHash(const RunningHash& other) : RunningHash{} { *this = other; }
RunningHash& RunningHash::operator=(const RunningHash& other) {
  XXH3_copyState(state_->xxh, other.state_->xxh);
  return *this;
}
RunningHash::~RunningHash() = default;

void RunningHash::add(std::string_view bytes) {
  XXH3_128bits_update(state_->xxh, bytes.data(), bytes.size());
}

ContentHash RunningHash::value() const { return from(XXH3_128bits_digest(state_->xxh)); }

}  // namespace holdfast::core
