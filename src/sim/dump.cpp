#include "sim/dump.h"

#include <algorithm>

#include <fmt/format.h>

namespace holdfast::sim {
namespace {

// Payloads are told apart by length and content; long ones by their ends and a hash.
std::string payload_text(BytesView bytes) {
  std::string out = fmt::format("{}:", bytes.size());
  const auto escape = [&](BytesView part) {
    for (const char c : part) {
      if (c >= 0x20 && c < 0x7f && c != '\\') {
        out += c;
      } else {
        out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
      }
    }
  };
  if (bytes.size() <= 64) {
    escape(bytes);
  } else {
    escape(bytes.substr(0, 24));
    out += fmt::format("..#{:016x}..", std::hash<BytesView>{}(bytes));
    escape(bytes.substr(bytes.size() - 24));
  }
  return out;
}

std::string page_problem(const Records& page, Offset from, const ReadLimits& limits) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < page.items.size(); ++i) {
    if (page.items[i].offset != from + i) {
      return fmt::format("record {} of the page at {} has offset {}", i, from.value,
                         page.items[i].offset.value);
    }
    bytes += page.items[i].bytes.size();
  }
  if (page.next != from + page.items.size()) {
    return fmt::format("the page at {} has {} records and next {}", from.value, page.items.size(),
                       page.next.value);
  }
  if (page.items.size() > 1 &&
      (page.items.size() > limits.records_max || bytes > limits.bytes_max)) {
    return fmt::format("the page at {} has {} records and {} bytes", from.value, page.items.size(),
                       bytes);
  }
  if (page.items.empty() && !page.at_tail) {
    return fmt::format("the page at {} is empty before the tail", from.value);
  }
  if (page.closed && !page.at_tail) return "closed is said before the tail";
  return {};
}

}  // namespace

ReadAll read_all(Store& store, const LogKey& log, Offset from, const ReadLimits& limits) {
  ReadAll all;
  Offset next = from;
  for (;;) {
    const auto page = store.read(log, next, limits);
    ++all.reads;
    if (!page) {
      all.problem = fmt::format("reading at {}: {}", next.value, page.error().message);
      return all;
    }
    all.problem = page_problem(*page, next, limits);
    if (!all.problem.empty()) return all;
    for (const Record& record : page->items) all.records.emplace_back(record.bytes);
    next = page->next;
    if (page->at_tail) break;
  }
  const auto state = store.tail(log);
  if (!state) {
    all.problem = state.error().message;
    return all;
  }
  all.state = *state;
  if (state->tail != next) {
    all.problem = fmt::format("reading ended at {}, the tail is {}", next.value, state->tail.value);
  }
  return all;
}

std::string dump(Store& store, std::span<const std::string> spaces) {
  std::string out;
  LogKey after;
  for (;;) {
    const auto page = store.logs(after, 64);
    if (!page) return out + "logs: " + page.error().message;
    for (const LogKey& key : *page) {
      const auto state = store.tail(key);
      if (!state) return out + "tail: " + state.error().message;
      out += fmt::format("log {} {} first={} tail={} closed={} epoch={} bytes={}\n", key.home,
                         key.log, state->first.value, state->tail.value, state->closed,
                         state->epoch.value, state->bytes);
      const ReadAll all = read_all(store, key, state->first);
      if (!all.problem.empty()) out += "  problem: " + all.problem + "\n";
      for (std::size_t i = 0; i < all.records.size(); ++i) {
        out += fmt::format("  {} {}\n", state->first.value + i, payload_text(all.records[i]));
      }
    }
    if (page->size() < 64) break;
    after = page->back();
  }
  for (const std::string& space : spaces) {
    const auto rows = store.scan(space, {}, 1'000'000);
    if (!rows) return out + "scan: " + rows.error().message;
    for (const Row& row : *rows) {
      out += fmt::format("row {} {} = {}\n", space, payload_text(row.key), payload_text(row.value));
    }
  }
  return out;
}

std::string difference(std::string_view expected, std::string_view got) {
  if (expected == got) return {};
  std::size_t at = 0;
  while (at < expected.size() && at < got.size() && expected[at] == got[at]) ++at;
  std::size_t line = at == 0 ? 0 : expected.rfind('\n', at - 1) + 1;  // npos + 1 is 0
  constexpr std::size_t kShown = 300;
  return fmt::format("expected\n{}\ngot\n{}", expected.substr(line, kShown),
                     got.substr(std::min(line, got.size()), kShown));
}

}  // namespace holdfast::sim
