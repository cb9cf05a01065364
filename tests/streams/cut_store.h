// A store that a process loses: after so many commits it answers nothing but errors. What it had
// committed stays in the store behind it, for the next process to find.
#pragma once

#include <cstdint>
#include <utility>

#include <holdfast/store.h>

namespace holdfast::suite {

class CutStore final : public Store {
 public:
  /// `commits` more commits pass. `inner` must outlive it.
  CutStore(Store& inner, std::uint64_t commits) : inner_{inner}, left_{commits} {}

  [[nodiscard]] bool cut() const { return cut_; }

  Result<Committed> commit(const Batch& batch) override {
    if (auto alive = check(); !alive) return fail(std::move(alive.error()));
    if (left_ == 0) {
      cut_ = true;
      return dead();
    }
    auto committed = inner_.commit(batch);
    if (committed) --left_;
    return committed;
  }
  void commit_async(Batch batch, CommitCallback done) override { done(commit(batch)); }
  Result<Records> read(const LogKey& log, Offset from, const ReadLimits& limits) override {
    if (cut_) return dead();
    return inner_.read(log, from, limits);
  }
  Result<LogState> tail(const LogKey& log) override {
    if (cut_) return dead();
    return inner_.tail(log);
  }
  Result<std::optional<Row>> get(std::string_view space, std::string_view key) override {
    if (cut_) return dead();
    return inner_.get(space, key);
  }
  Result<std::vector<Row>> scan(std::string_view space, const KeyRange& range,
                                std::size_t limit) override {
    if (cut_) return dead();
    return inner_.scan(space, range, limit);
  }
  Result<Watch> watch(const LogKey& log, WatchCallback changed) override {
    return inner_.watch(log, std::move(changed));
  }
  Result<Watch> watch_space(std::string_view space, WatchCallback changed) override {
    return inner_.watch_space(space, std::move(changed));
  }
  Result<Offset> locate_time(const LogKey& log, Timestamp cutoff) override {
    return inner_.locate_time(log, cutoff);
  }
  Result<Offset> locate_bytes(const LogKey& log, std::uint64_t bytes) override {
    return inner_.locate_bytes(log, bytes);
  }
  Result<std::vector<LogKey>> logs(const LogKey& after, std::size_t limit) override {
    return inner_.logs(after, limit);
  }
  [[nodiscard]] StoreStats stats() const override { return inner_.stats(); }

 private:
  [[nodiscard]] static std::unexpected<Error> dead() {
    return fail(ErrorCode::kStopped, "the process has ended");
  }
  [[nodiscard]] Result<void> check() const {
    if (cut_) return dead();
    return {};
  }

  Store& inner_;
  std::uint64_t left_;
  bool cut_ = false;
};

}  // namespace holdfast::suite
