#include <holdfast/clock.h>

#include <chrono>

namespace holdfast {
namespace {

class SystemClock final : public Clock {
 public:
  [[nodiscard]] Timestamp now() const override {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return {std::chrono::duration_cast<std::chrono::milliseconds>(since).count()};
  }
};

}  // namespace

const Clock& system_clock() {
  static const SystemClock clock;
  return clock;
}

}  // namespace holdfast
