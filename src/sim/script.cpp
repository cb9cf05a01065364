#include "sim/script.h"

#include <algorithm>

#include <fmt/format.h>

namespace holdfast::sim {
namespace {

constexpr std::size_t kNoiseBytes = 1u << 20;

// Half of it text that compresses, half of it any bytes.
Bytes make_noise(Random& random, std::size_t record_bytes_max) {
  const std::size_t size = std::max(kNoiseBytes, 4 * record_bytes_max);
  Bytes noise;
  noise.reserve(size + 64);
  while (noise.size() < size / 2) {
    noise +=
        fmt::format("{{\"type\":\"delta\",\"n\":{},\"delta\":\"word\"}}\n", random.below(100'000));
  }
  while (noise.size() < size) noise += static_cast<char>(random.below(256));
  return noise;
}

std::string version_text(const std::optional<std::uint64_t>& expected) {
  if (!expected) return {};
  return fmt::format("@{}", *expected == kExpectNone      ? "none"
                            : *expected == kExpectCurrent ? "current"
                                                          : "other");
}

std::string describe(const Batch& batch) {
  std::string out = "commit " + batch.home + ":";
  for (const auto& part : batch.creates) {
    out += fmt::format(" create({} from {}{})", part.log, part.first.value,
                       part.if_missing ? " if missing" : "");
  }
  for (const auto& part : batch.appends) {
    std::size_t bytes = 0;
    for (const BytesView record : part.records) bytes += record.size();
    out += fmt::format(" append({} {} records {} bytes", part.log, part.records.size(), bytes);
    if (part.expected_tail) out += fmt::format(" at {}", part.expected_tail->value);
    if (part.epoch) out += fmt::format(" epoch {}", part.epoch->value);
    out += part.close ? " close)" : ")";
  }
  for (const auto& part : batch.trims) {
    out += fmt::format(" trim({} before {})", part.log, part.before.value);
  }
  for (const auto& part : batch.removes) out += fmt::format(" remove({})", part.log);
  for (const auto& part : batch.puts) {
    out += fmt::format(" put({} {} {} bytes{})", part.space, part.key, part.value.size(),
                       version_text(part.expected_version));
  }
  for (const auto& part : batch.deletes) {
    out +=
        fmt::format(" delete({} {}{})", part.space, part.key, version_text(part.expected_version));
  }
  return out;
}

template <typename Part>
bool named_in(const std::vector<Part>& list, const std::string& log) {
  return std::ranges::any_of(list, [&](const Part& part) { return part.log == log; });
}

template <typename Part>
bool rows_in(const std::vector<Part>& list, const std::string& space, const std::string& key) {
  return std::ranges::any_of(
      list, [&](const Part& part) { return part.space == space && part.key == key; });
}

}  // namespace

std::string describe(const Step& step) {
  switch (step.kind) {
    case Step::Kind::kCommit: return describe(step.batch);
    case Step::Kind::kRead:
      return fmt::format("read {} {} from {}, {} records {} bytes", step.log.home, step.log.log,
                         step.from.value, step.limits.records_max, step.limits.bytes_max);
    case Step::Kind::kTail: return fmt::format("tail {} {}", step.log.home, step.log.log);
    case Step::Kind::kGet: return fmt::format("get {} {}", step.space, step.key);
    case Step::Kind::kScan:
      return fmt::format("scan {} [{}, {}){} limit {}", step.space, step.range.from, step.range.to,
                         step.range.descending ? " down" : "", step.limit);
    case Step::Kind::kLogs:
      return fmt::format("logs after {} {} limit {}", step.log.home, step.log.log, step.limit);
    case Step::Kind::kTrimByTime:
      return fmt::format("trim {} {} by time {}", step.log.home, step.log.log, step.amount);
    case Step::Kind::kTrimByBytes:
      return fmt::format("trim {} {} by bytes {}", step.log.home, step.log.log, step.amount);
    case Step::Kind::kClock: return fmt::format("clock {:+}", step.amount);
    case Step::Kind::kMaintain: return "maintain";
    case Step::Kind::kReopen: return "reopen";
  }
  return "?";
}

Result<Batch> resolve(const Batch& batch, Store& store) {
  Batch out = batch;
  const auto resolve_one = [&](auto& part) -> Result<void> {
    if (!part.expected_version || *part.expected_version == kExpectNone) return {};
    const auto row = store.get(part.space, part.key);
    if (!row) return fail(row.error());
    const std::uint64_t current = *row ? (*row)->version : 0;
    part.expected_version =
        *part.expected_version == kExpectCurrent ? current : current + 1'000'000;
    return {};
  };
  for (RowPut& put : out.puts) {
    if (auto ok = resolve_one(put); !ok) return fail(std::move(ok.error()));
  }
  for (RowDelete& deleted : out.deletes) {
    if (auto ok = resolve_one(deleted); !ok) return fail(std::move(ok.error()));
  }
  return out;
}

Script::Script(std::uint64_t seed, const ScriptShape& shape)
    : random_{seed}, shape_{shape}, noise_{make_noise(random_, shape.record_bytes_max)} {}

const std::vector<std::string>& Script::spaces() {
  static const std::vector<std::string> names{"meta", "timer"};
  return names;
}

Step Script::next(Store& model) {
  if (shape_.commits_only || !random_.one_in(3)) return commit(model);
  return look(model);
}

// --- Commits ------------------------------------------------------------------------------------

Step Script::commit(Store& model) {
  Step step{.kind = Step::Kind::kCommit};
  step.batch.home = home();
  add_log_parts(step.batch, model);
  if (random_.one_in(3)) add_row_parts(step.batch);
  return step;
}

void Script::add_log_parts(Batch& batch, Store& model) {
  const std::uint64_t parts = 1 + (random_.one_in(4) ? random_.below(shape_.logs) : 0);
  for (std::uint64_t i = 0; i < parts; ++i) {
    const LogKey name{batch.home, log()};
    const auto state = model.tail(name);
    if (!state && (!shape_.refusals || !random_.one_in(12)) && !named_in(batch.creates, name.log)) {
      batch.creates.push_back({.log = name.log,
                               .first = Offset{random_.one_in(4) ? random_.below(1'000) : 0},
                               .if_missing = random_.one_in(2)});
    } else if (shape_.refusals && random_.one_in(40) && !named_in(batch.creates, name.log)) {
      batch.creates.push_back({.log = name.log, .if_missing = random_.one_in(2)});
    }
    if (!random_.one_in(8) && !named_in(batch.appends, name.log)) {
      LogState born;
      if (!state && !batch.creates.empty()) born.tail = batch.creates.back().first;
      LogAppend part = append(name, state ? &*state : &born);
      const bool closed = state && state->closed;
      if (!closed || shape_.refusals) batch.appends.push_back(std::move(part));
    }
    if (random_.one_in(9) && state && !named_in(batch.trims, name.log)) {
      batch.trims.push_back({.log = name.log, .before = near(*state)});
    }
    const bool closed = state && state->closed;
    if (random_.one_in(closed ? 4 : 60) && !named_in(batch.removes, name.log)) {
      batch.removes.push_back({.log = name.log});
    }
  }
}

LogAppend Script::append(const LogKey& log, const LogState* state) {
  LogAppend part{.log = log.log};
  std::uint64_t count = random_.below(4);
  if (random_.one_in(10)) count = 10 + random_.below(60);
  for (std::uint64_t i = 0; i < count; ++i) part.records.push_back(record());
  if (random_.one_in(4)) {
    const bool wrong = shape_.refusals && random_.one_in(4);
    part.expected_tail = wrong ? Offset{random_.below(state->tail.value + 3)} : state->tail;
  }
  if (random_.one_in(6)) {
    const std::uint64_t now = state->epoch.value;
    const bool lower = shape_.refusals && now > 0 && random_.one_in(4);
    part.epoch = Epoch{lower ? now - 1 : now + random_.below(2)};
  }
  part.close = random_.one_in(50);
  return part;
}

BytesView Script::record() {
  std::size_t size = random_.below(120);
  if (random_.one_in(12)) size = random_.below(5'000);
  if (random_.one_in(250)) size = random_.below(shape_.record_bytes_max);
  size = std::min(size, shape_.record_bytes_max);
  return BytesView{noise_}.substr(random_.below(noise_.size() - size), size);
}

void Script::add_row_parts(Batch& batch) {
  const std::uint64_t parts = 1 + random_.below(3);
  for (std::uint64_t i = 0; i < parts; ++i) {
    const std::string in = space();
    // A key belongs to one home nearly always: so its rows are there to be found.
    const bool foreign = shape_.refusals && random_.one_in(20);
    const std::string name = foreign ? row_key() : batch.home + "/" + row_key();
    std::optional<std::uint64_t> expected;
    if (random_.one_in(3)) {
      expected = shape_.refusals ? random_.below(3) : kExpectCurrent;
    }
    if (random_.one_in(4)) {
      if (rows_in(batch.deletes, in, name)) continue;
      batch.deletes.push_back({.space = in, .key = name, .expected_version = expected});
    } else if (!rows_in(batch.puts, in, name)) {
      batch.puts.push_back(
          {.space = in, .key = name, .value = Bytes{record()}, .expected_version = expected});
    }
  }
}

// --- Looks --------------------------------------------------------------------------------------

Step Script::look(Store& model) {
  Step step{.log = {home(), log()}, .space = space(), .key = home() + "/" + row_key()};
  const auto state = model.tail(step.log);
  switch (random_.below(12)) {
    case 0:
    case 1:
    case 2:
    case 3:
      step.kind = Step::Kind::kRead;
      step.from = near(state ? *state : LogState{});
      if (random_.one_in(2)) step.limits.records_max = random_.below(40);
      if (random_.one_in(3)) step.limits.bytes_max = random_.below(10'000);
      break;
    case 4: step.kind = Step::Kind::kTail; break;
    case 5: step.kind = Step::Kind::kGet; break;
    case 6:
    case 7:
      step.kind = Step::Kind::kScan;
      step.range = range();
      step.limit = random_.below(20);
      break;
    case 8:
      step.kind = Step::Kind::kLogs;
      if (random_.one_in(2)) step.log = {};
      step.limit = random_.below(8);
      break;
    case 9:
      step.kind = random_.one_in(2) ? Step::Kind::kTrimByTime : Step::Kind::kTrimByBytes;
      step.amount = static_cast<std::int64_t>(random_.below(60'000));
      break;
    case 10:
      step.kind = Step::Kind::kClock;
      step.amount = static_cast<std::int64_t>(random_.below(10'000));
      if (random_.one_in(10)) step.amount = -step.amount;
      break;
    default:
      step.kind = random_.one_in(2) ? Step::Kind::kMaintain : Step::Kind::kReopen;
      if (!random_.one_in(4)) step.kind = Step::Kind::kTail;
  }
  return step;
}

Offset Script::near(const LogState& state) {
  const std::uint64_t first = state.first.value;
  const std::uint64_t tail = state.tail.value;
  switch (random_.below(6)) {
    case 0: return Offset{first};
    case 1: return Offset{tail};
    case 2: return Offset{first - std::min<std::uint64_t>(first, random_.below(3))};
    case 3: return Offset{tail + random_.below(3)};
    default: return Offset{first + random_.below(tail - first + 1)};
  }
}

KeyRange Script::range() {
  KeyRange range;
  switch (random_.below(4)) {
    case 0: break;
    case 1: range = KeyRange::prefix(home() + "/"); break;
    case 2: range.from = home() + "/" + row_key(); break;
    default: range = {.from = home() + "/" + row_key(), .to = home() + "/" + row_key()};
  }
  range.descending = random_.one_in(2);
  return range;
}

std::string Script::home() { return fmt::format("home/{}", random_.below(shape_.homes)); }
std::string Script::log() { return fmt::format("log{}", random_.below(shape_.logs)); }
std::string Script::row_key() { return fmt::format("k{}", random_.below(shape_.keys)); }
std::string Script::space() { return spaces()[random_.below(spaces().size())]; }

}  // namespace holdfast::sim
