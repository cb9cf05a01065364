// What the suites of streams share: every store there is, streams over it, and the shapes of data.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/stream.h>

#include "engine/streams/core.h"
#include "store_suite.h"

namespace holdfast::suite {

using Texts = std::vector<std::string>;

[[nodiscard]] inline Texts texts(const Chunks& chunks) {
  Texts out;
  out.reserve(chunks.items.size());
  for (const Chunk& chunk : chunks.items) out.emplace_back(chunk.bytes);
  return out;
}

/// The names of all rows and logs that are left of streams.
[[nodiscard]] Texts leftovers(Store& store);

/// Lines as a model's session writes them: turns, mostly deltas.
[[nodiscard]] Texts make_session(std::size_t lines, std::uint64_t seed);

class StreamSuite : public testing::TestWithParam<StoreKind> {
 protected:
  [[nodiscard]] Store& store() { return under_test_->store(); }
  [[nodiscard]] ManualClock& clock() { return under_test_->clock; }
  [[nodiscard]] Streams& streams() { return streams_; }

  Stream make(std::string_view name, const StreamOptions& options = {}) {
    return ok(streams_.create(name, options)).stream;
  }
  /// A stream of `count` chunks "0", "1", ...
  Stream make_filled(std::string_view name, std::size_t count);
  /// All chunks of a stream, page by page.
  static Texts all(const Stream& stream, const ReadLimits& limits = {});
  /// What the store has done since.
  struct Cost {
    std::uint64_t commits = 0;
    std::uint64_t reads = 0;
    std::uint64_t rows_read = 0;
    std::uint64_t records_read = 0;
    std::uint64_t bytes_read = 0;
  };
  Cost cost_of(const std::function<void()>& work);
  void settle() { core().background().settle(); }
  engine::StreamsCore& core() { return *engine::StreamAccess::core(streams_); }
  [[nodiscard]] StoreUnderTest& under_test() { return *under_test_; }

 private:
  std::unique_ptr<StoreUnderTest> under_test_ = GetParam().make();
  Streams streams_{under_test_->store(), under_test_->clock, Random{7}};
};

}  // namespace holdfast::suite

/// Runs a suite over every store.
#define HOLDFAST_OVER_ALL_STORES(tests)                                                        \
  INSTANTIATE_TEST_SUITE_P(Stores, tests, testing::ValuesIn(::holdfast::suite::store_kinds()), \
                           [](const auto& kind_info) { return kind_info.param.name; })
