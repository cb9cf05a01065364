// A store whose answers sometimes get lost: the commit happened, or it did not, and the caller is
// told kUnavailable either way.
#pragma once

#include <cstdint>
#include <mutex>

#include <holdfast/random.h>
#include <holdfast/store.h>

namespace holdfast::sim {

class LossyStore final : public Store {
 public:
  /// One commit in `one_in` is lost; of these every other one happened. `inner` must outlive it.
  LossyStore(Store& inner, std::uint64_t seed, std::uint64_t one_in)
      : inner_{inner}, random_{seed}, one_in_{one_in} {}

  /// How many answers were lost so far.
  [[nodiscard]] std::uint64_t lost() const;
  /// Of these, how many of commits that had happened.
  [[nodiscard]] std::uint64_t lost_after() const;

  Result<Committed> commit(const Batch& batch) override;
  void commit_async(Batch batch, CommitCallback done) override;
  Result<Records> read(const LogKey& log, Offset from, const ReadLimits& limits) override;
  Result<LogState> tail(const LogKey& log) override;
  Result<std::optional<Row>> get(std::string_view space, std::string_view key) override;
  Result<std::vector<Row>> scan(std::string_view space, const KeyRange& range,
                                std::size_t limit) override;
  Result<Watch> watch(const LogKey& log, WatchCallback changed) override;
  Result<Watch> watch_space(std::string_view space, WatchCallback changed) override;
  Result<Offset> locate_time(const LogKey& log, Timestamp cutoff) override;
  Result<Offset> locate_bytes(const LogKey& log, std::uint64_t bytes) override;
  Result<std::vector<LogKey>> logs(const LogKey& after, std::size_t limit) override;
  [[nodiscard]] StoreStats stats() const override;

 private:
  enum class Fate : std::uint8_t { kAnswered, kLostBefore, kLostAfter };
  [[nodiscard]] Fate draw();

  Store& inner_;
  mutable std::mutex mutex_;  // guards what follows
  Random random_;
  std::uint64_t one_in_;
  std::uint64_t lost_before_ = 0;
  std::uint64_t lost_after_ = 0;
};

}  // namespace holdfast::sim
