#include "sim/linearizability.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include <holdfast/random.h>

namespace holdfast::sim {
namespace {

std::string describe(const LogOperation& op) {
  const auto values = [&] { return fmt::format("[{}]", fmt::join(op.values, " ")); };
  switch (op.kind) {
    case LogOperation::Kind::kAppend: {
      static constexpr const char* kOutcomes[] = {"ok at", "stale, tail", "closed at", "unknown"};
      return fmt::format("append {}{}{} -> {} {}", values(),
                         op.expected_tail ? fmt::format(" at {}", *op.expected_tail) : "",
                         op.closes ? " close" : "", kOutcomes[static_cast<int>(op.outcome)], op.at);
    }
    case LogOperation::Kind::kRead:
      return fmt::format("read from {} -> {}{}", op.at, values(), op.to_tail ? " tail" : "");
    case LogOperation::Kind::kTail: return fmt::format("tail -> {}", op.at);
  }
  return "?";
}

// The log, with a hash of all it holds after each record, so that going back is cutting.
class LogModel {
 public:
  struct Mark {
    std::size_t size = 0;
    bool closed = false;
  };
  [[nodiscard]] Mark mark() const { return {values_.size(), closed_}; }
  void go_back(Mark mark) {
    values_.resize(mark.size);
    hashes_.resize(mark.size + 1);
    closed_ = mark.closed;
  }
  [[nodiscard]] std::uint64_t hash() const { return hashes_.back() * 2 + (closed_ ? 1 : 0); }

  // Does the operation if its answer is what this log gives; else changes nothing.
  [[nodiscard]] bool step(const LogOperation& op) {
    switch (op.kind) {
      case LogOperation::Kind::kAppend: return append(op);
      case LogOperation::Kind::kRead: return read(op);
      case LogOperation::Kind::kTail: return op.at == values_.size() && op.closed == closed_;
    }
    return false;
  }

 private:
  [[nodiscard]] bool append(const LogOperation& op) {
    const bool closed = closed_ && !(op.closes && op.values.empty());
    const bool stale = !closed && op.expected_tail && *op.expected_tail != values_.size();
    switch (op.outcome) {
      case LogOperation::Outcome::kStale: return stale && op.at == values_.size();
      case LogOperation::Outcome::kClosed: return closed && op.at == values_.size();
      case LogOperation::Outcome::kOk:
        if (closed || stale || op.at != values_.size()) return false;
        break;
      case LogOperation::Outcome::kUnknown:
        if (closed || stale) return true;
        break;
    }
    for (const std::uint64_t value : op.values) {
      values_.push_back(value);
      hashes_.push_back((hashes_.back() ^ value) * 0x9E3779B97F4A7C15ull + 1);
    }
    closed_ = closed_ || op.closes;
    return true;
  }
  [[nodiscard]] bool read(const LogOperation& op) const {
    const std::uint64_t end = op.at + op.values.size();
    if (end > values_.size()) return false;
    if (op.to_tail != (end == values_.size())) return false;
    if (op.closed != (op.to_tail && closed_)) return false;
    return std::equal(op.values.begin(), op.values.end(),
                      values_.begin() + static_cast<std::ptrdiff_t>(op.at));
  }

  std::vector<std::uint64_t> values_;
  std::vector<std::uint64_t> hashes_{1};
  bool closed_ = false;
};

// Calls and returns in the order of their moments, as a list from which operations are lifted.
struct Node {
  std::size_t op = 0;
  bool is_call = false;
  std::size_t before = 0;
  std::size_t after = 0;
  std::size_t match = 0;  // a call's return; 0 if it never came
};

class Search {
 public:
  explicit Search(std::span<const LogOperation> history) : history_{history} {
    build();
    Random random{history.size()};
    for (std::size_t i = 0; i < history.size(); ++i) {
      marks_.emplace_back(random.next(), random.next());
    }
  }

  Linearization run();

 private:
  struct Taken {
    std::size_t node = 0;
    LogModel::Mark mark{};
  };
  void build();
  void lift(std::size_t call);
  void put_back(std::size_t call);
  [[nodiscard]] bool take(std::size_t call);
  void note_best();

  std::span<const LogOperation> history_;
  std::vector<Node> nodes_;  // nodes_[0] is the head; its `after` the first
  std::vector<std::pair<std::uint64_t, std::uint64_t>> marks_;
  std::pair<std::uint64_t, std::uint64_t> done_{};  // the marks of what was taken, mixed
  std::size_t open_returns_ = 0;
  LogModel log_;
  std::vector<Taken> taken_;
  std::set<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>> tried_;
  Linearization result_;
  std::size_t best_size_ = 0;
};

void Search::build() {
  struct Event {
    std::uint64_t moment;
    std::size_t op;
    bool is_call;
  };
  std::vector<Event> events;
  for (std::size_t i = 0; i < history_.size(); ++i) {
    events.push_back({history_[i].called, i, true});
    if (history_[i].returned == LogOperation::kNever) continue;
    events.push_back({history_[i].returned, i, false});
    ++open_returns_;
  }
  std::ranges::sort(events, {}, &Event::moment);
  nodes_.push_back({});
  std::vector<std::size_t> calls(history_.size());
  for (const Event& event : events) {
    const std::size_t at = nodes_.size();
    nodes_.push_back({.op = event.op, .is_call = event.is_call, .before = at - 1});
    nodes_[at - 1].after = at;
    if (event.is_call) {
      calls[event.op] = at;
    } else {
      nodes_[calls[event.op]].match = at;
    }
  }
}

void Search::lift(std::size_t call) {
  for (const std::size_t at : {call, nodes_[call].match}) {
    if (at == 0) continue;
    nodes_[nodes_[at].before].after = nodes_[at].after;
    if (nodes_[at].after != 0) nodes_[nodes_[at].after].before = nodes_[at].before;
  }
}

void Search::put_back(std::size_t call) {
  for (const std::size_t at : {nodes_[call].match, call}) {
    if (at == 0) continue;
    nodes_[nodes_[at].before].after = at;
    if (nodes_[at].after != 0) nodes_[nodes_[at].after].before = at;
  }
}

bool Search::take(std::size_t call) {
  const std::size_t op = nodes_[call].op;
  const LogModel::Mark mark = log_.mark();
  ++result_.steps;
  if (!log_.step(history_[op])) return false;
  const std::pair done{done_.first ^ marks_[op].first, done_.second ^ marks_[op].second};
  if (!tried_.emplace(done.first, done.second, log_.hash()).second) {
    log_.go_back(mark);
    return false;
  }
  done_ = done;
  taken_.push_back({call, mark});
  if (nodes_[call].match != 0) --open_returns_;
  lift(call);
  return true;
}

void Search::note_best() {
  if (taken_.size() <= best_size_) return;
  best_size_ = taken_.size();
  result_.best.clear();
  for (const Taken& taken : taken_) {
    result_.best += describe(history_[nodes_[taken.node].op]) + '\n';
  }
}

Linearization Search::run() {
  std::size_t at = nodes_[0].after;
  while (open_returns_ > 0) {
    if (nodes_[at].is_call) {
      at = take(at) ? nodes_[0].after : nodes_[at].after;
      continue;
    }
    // An operation returned that has found no place: the last one taken was taken wrongly.
    note_best();
    if (taken_.empty()) return std::move(result_);
    const Taken last = taken_.back();
    taken_.pop_back();
    const std::size_t op = nodes_[last.node].op;
    done_ = {done_.first ^ marks_[op].first, done_.second ^ marks_[op].second};
    log_.go_back(last.mark);
    if (nodes_[last.node].match != 0) ++open_returns_;
    put_back(last.node);
    at = nodes_[last.node].after;
  }
  result_.possible = true;
  return std::move(result_);
}

}  // namespace

Linearization linearize(std::span<const LogOperation> history) { return Search{history}.run(); }

}  // namespace holdfast::sim
