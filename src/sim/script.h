// Random operations on a store, from a seed: the same seed gives the same script on every store.
//
// Left to others: doing them and judging the answers (oracle, crash tests).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <holdfast/random.h>
#include <holdfast/store.h>

namespace holdfast::sim {

/// What expects a row's version in a script. The versions themselves differ from store to store:
/// resolve() puts in those of the store at hand.
inline constexpr std::uint64_t kExpectNone = 0;
inline constexpr std::uint64_t kExpectCurrent = 1;
inline constexpr std::uint64_t kExpectOther = 2;

struct Step {
  enum class Kind : std::uint8_t {
    kCommit,
    kRead,
    kTail,
    kGet,
    kScan,
    kLogs,
    kTrimByTime,   ///< locate_time, then trim to the answer
    kTrimByBytes,  ///< locate_bytes, then trim to the answer
    kClock,        ///< the clock moves by `amount` milliseconds
    kMaintain,     ///< whatever the store has: seal, check, compact
    kReopen,
  };
  Kind kind{};
  Batch batch{};  ///< for kCommit; row versions expected are kExpect...
  LogKey log{};   ///< also what kLogs begins after
  Offset from{};
  ReadLimits limits{};
  std::string space{};
  std::string key{};
  KeyRange range{};
  std::size_t limit = 0;
  std::int64_t amount = 0;
};

/// One line that says what the step does.
[[nodiscard]] std::string describe(const Step& step);
/// The batch with this store's own row versions, which it reads.
[[nodiscard]] Result<Batch> resolve(const Batch& batch, Store& store);

/// What scripts are made of.
struct ScriptShape {
  std::uint64_t homes = 3;
  std::uint64_t logs = 3;
  std::uint64_t keys = 8;
  /// Records are at most this long; few are.
  std::size_t record_bytes_max = 200'000;
  /// One step in so many reads, looks or maintains rather than commits; 0 for commits only.
  bool commits_only = false;
  /// Batches that some store must refuse are made, too.
  bool refusals = true;
};

class Script {
 public:
  Script(std::uint64_t seed, const ScriptShape& shape);

  /// The next step. Looks at `model`, which must hold what the steps so far made of it, to aim at
  /// its edges. Its bytes live as long as the script.
  [[nodiscard]] Step next(Store& model);

  /// Every space that steps write to.
  [[nodiscard]] static const std::vector<std::string>& spaces();

 private:
  [[nodiscard]] Step commit(Store& model);
  void add_log_parts(Batch& batch, Store& model);
  void add_row_parts(Batch& batch);
  [[nodiscard]] LogAppend append(const LogKey& log, const LogState* state);
  [[nodiscard]] BytesView record();
  [[nodiscard]] std::string home();
  [[nodiscard]] std::string log();
  [[nodiscard]] std::string row_key();
  [[nodiscard]] std::string space();
  [[nodiscard]] Offset near(const LogState& state);
  [[nodiscard]] KeyRange range();
  [[nodiscard]] Step look(Store& model);

  Random random_;
  ScriptShape shape_;
  Bytes noise_;  // records are cut from it
};

}  // namespace holdfast::sim
