#include "sim/oracle.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "sim/dump.h"

namespace holdfast::sim {
namespace {

class Oracle {
 public:
  Oracle(const Subject& subject, std::uint64_t seed, const ScriptShape& shape)
      : subject_{subject}, seed_{seed}, script_{seed, shape} {}

  Verdicts run(std::uint64_t steps);

 private:
  void step(const Step& step);
  void commit(const Batch& batch);
  void read(const Step& step);
  void rows(const Result<std::vector<Row>>& mine, const Result<std::vector<Row>>& its);
  void trim_to(const Step& step, const Result<Offset>& mine, const Result<Offset>& its);
  void compare_whole();

  // Both refused alike, or both did not: false if there is nothing more to compare.
  template <typename T>
  bool both(const Result<T>& mine, const Result<T>& its);
  void disagree(std::string what);
  void say(std::string_view text) { verdicts_.log.append(" -> ").append(text); }
  Store& store() { return subject_.store(); }

  const Subject& subject_;
  std::uint64_t seed_;
  std::unique_ptr<Store> model_ = make_memory_store(*subject_.clock);
  Script script_;
  std::map<std::uint64_t, std::uint64_t> versions_;  // the model's, to the subject's
  Verdicts verdicts_;
};

Verdicts Oracle::run(std::uint64_t steps) {
  while (verdicts_.steps < steps && verdicts_.disagreement.empty()) {
    const Step next = script_.next(*model_);
    ++verdicts_.steps;
    verdicts_.log += describe(next);
    step(next);
    verdicts_.log += '\n';
    if (verdicts_.steps % 500 == 0) compare_whole();
  }
  if (verdicts_.disagreement.empty()) compare_whole();
  return std::move(verdicts_);
}

void Oracle::disagree(std::string what) {
  if (!verdicts_.disagreement.empty()) return;
  const std::string& log = verdicts_.log;
  const std::size_t line = log.rfind('\n');
  verdicts_.disagreement =
      fmt::format("seed {} step {}: {}: {}", seed_, verdicts_.steps,
                  log.substr(line == std::string::npos ? 0 : line + 1), std::move(what));
}

template <typename T>
bool Oracle::both(const Result<T>& mine, const Result<T>& its) {
  if (mine && its) return true;
  if (mine.has_value() != its.has_value()) {
    disagree(mine ? fmt::format("the store refused: {}", its.error().message)
                  : fmt::format("the store took what should be refused: {}", mine.error().message));
    return false;
  }
  const Error& expected = mine.error();
  const Error& got = its.error();
  say(error_name(expected.code));
  const auto version = versions_.find(expected.actual);
  const bool numbers_agree = got.actual == expected.actual ||
                             (version != versions_.end() && got.actual == version->second);
  if (got.code != expected.code || !numbers_agree) {
    disagree(fmt::format("should be refused with {} {} ({}), was with {} {} ({})",
                         error_name(expected.code), expected.actual, expected.message,
                         error_name(got.code), got.actual, got.message));
  }
  return false;
}

void Oracle::step(const Step& step) {
  switch (step.kind) {
    case Step::Kind::kCommit: return commit(step.batch);
    case Step::Kind::kRead: return read(step);
    case Step::Kind::kTail: {
      const auto mine = model_->tail(step.log);
      const auto its = store().tail(step.log);
      if (!both(mine, its)) return;
      const auto text = [](const LogState& state) {
        return fmt::format("first {} tail {} closed {} epoch {} bytes {}", state.first.value,
                           state.tail.value, state.closed, state.epoch.value, state.bytes);
      };
      say(text(*mine));
      if (text(*mine) != text(*its)) disagree(fmt::format("the store has {}", text(*its)));
      return;
    }
    case Step::Kind::kGet: {
      const auto listed = [](Result<std::optional<Row>> row) -> Result<std::vector<Row>> {
        if (!row) return fail(std::move(row.error()));
        return *row ? std::vector<Row>{**row} : std::vector<Row>{};
      };
      return rows(listed(model_->get(step.space, step.key)),
                  listed(store().get(step.space, step.key)));
    }
    case Step::Kind::kScan:
      return rows(model_->scan(step.space, step.range, step.limit),
                  store().scan(step.space, step.range, step.limit));
    case Step::Kind::kLogs: {
      const auto mine = model_->logs(step.log, step.limit);
      const auto its = store().logs(step.log, step.limit);
      if (!both(mine, its)) return;
      say(fmt::format("{} logs", mine->size()));
      if (*mine != *its) disagree(fmt::format("the store lists {}", its->size()));
      return;
    }
    case Step::Kind::kTrimByTime: {
      const Timestamp cutoff{subject_.clock->now().ms - step.amount};
      return trim_to(step, model_->locate_time(step.log, cutoff),
                     store().locate_time(step.log, cutoff));
    }
    case Step::Kind::kTrimByBytes: {
      const auto bytes = static_cast<std::uint64_t>(step.amount);
      return trim_to(step, model_->locate_bytes(step.log, bytes),
                     store().locate_bytes(step.log, bytes));
    }
    case Step::Kind::kClock: return subject_.clock->advance_ms(step.amount);
    case Step::Kind::kReopen: return subject_.reopen();
    case Step::Kind::kMaintain: {
      std::string wrong = subject_.maintain(verdicts_.steps);
      if (!wrong.empty()) disagree(std::move(wrong));
      return;
    }
  }
}

void Oracle::commit(const Batch& batch) {
  const auto for_model = resolve(batch, *model_);
  const auto for_store = resolve(batch, store());
  if (!both(for_model, for_store)) return;
  const auto mine = model_->commit(*for_model);
  const auto its = store().commit(*for_store);
  ++(mine ? verdicts_.commits : verdicts_.refusals);
  if (!both(mine, its)) return;
  if (mine->appends.size() != its->appends.size() ||
      mine->row_versions.size() != its->row_versions.size()) {
    return disagree("the store answers for another number of parts");
  }
  for (std::size_t i = 0; i < mine->appends.size(); ++i) {
    const AppendedRange& expected = mine->appends[i];
    const AppendedRange& got = its->appends[i];
    say(fmt::format("[{}, {})", expected.first.value, expected.next.value));
    if (expected.first != got.first || expected.next != got.next) {
      return disagree(fmt::format("the store gave [{}, {})", got.first.value, got.next.value));
    }
  }
  for (std::size_t i = 0; i < mine->row_versions.size(); ++i) {
    versions_[mine->row_versions[i]] = its->row_versions[i];
  }
}

void Oracle::read(const Step& step) {
  const auto mine = model_->read(step.log, step.from, {1'000'000, ~0ull});
  const auto its = store().read(step.log, step.from, step.limits);
  if (!both(mine, its)) return;
  say(fmt::format("{} records to the tail", mine->items.size()));
  if (its->items.size() > mine->items.size()) return disagree("the store gave too many records");
  if (its->items.empty() != mine->items.empty()) return disagree("the store gave no record");
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < its->items.size(); ++i) {
    const Record& expected = mine->items[i];
    const Record& got = its->items[i];
    if (expected.offset != got.offset || expected.bytes != got.bytes) {
      return disagree(fmt::format("record {} differs: {} bytes expected, {} got at {}",
                                  expected.offset.value, expected.bytes.size(), got.bytes.size(),
                                  got.offset.value));
    }
    bytes += got.bytes.size();
  }
  const bool over = its->items.size() > step.limits.records_max || bytes > step.limits.bytes_max;
  if (its->items.size() > 1 && over) return disagree("the limits were passed");
  const bool at_tail = its->items.size() == mine->items.size();
  if (its->next != step.from + its->items.size() || its->at_tail != at_tail ||
      its->closed != (at_tail && mine->closed)) {
    disagree(
        fmt::format("next {}, at_tail {}, closed {}", its->next.value, its->at_tail, its->closed));
  }
}

void Oracle::rows(const Result<std::vector<Row>>& mine, const Result<std::vector<Row>>& its) {
  if (!both(mine, its)) return;
  say(fmt::format("{} rows", mine->size()));
  if (mine->size() != its->size()) return disagree(fmt::format("the store has {}", its->size()));
  for (std::size_t i = 0; i < mine->size(); ++i) {
    const Row& expected = (*mine)[i];
    const Row& got = (*its)[i];
    if (expected.key != got.key || expected.value != got.value ||
        versions_.at(expected.version) != got.version) {
      return disagree(fmt::format("row {} differs: '{}' of version {} expected, '{}' of {} got", i,
                                  expected.key, versions_.at(expected.version), got.key,
                                  got.version));
    }
  }
}

void Oracle::trim_to(const Step& step, const Result<Offset>& mine, const Result<Offset>& its) {
  if (!both(mine, its)) return;
  const auto state = model_->tail(step.log);
  if (*its > *mine || *its < state->first) {
    return disagree(fmt::format("located {}, within [{}, {}] expected", its->value,
                                state->first.value, mine->value));
  }
  commit({.home = step.log.home, .trims = {{.log = step.log.log, .before = *its}}});
}

void Oracle::compare_whole() {
  const std::string expected = dump(*model_, Script::spaces());
  const std::string got = dump(store(), Script::spaces());
  if (expected != got) disagree("the whole differs: " + difference(expected, got));
}

}  // namespace

Verdicts run_oracle(const Subject& subject, std::uint64_t seed, std::uint64_t steps,
                    const ScriptShape& shape) {
  return Oracle{subject, seed, shape}.run(steps);
}

}  // namespace holdfast::sim
