#include "kill/target.h"

#include <condition_variable>
#include <cstring>
#include <mutex>
#include <stdexcept>

#include <fmt/format.h>
#include <holdfast/stream.h>

namespace holdfast::kill {
namespace {

template <typename T>
T must(Result<T> result, std::string_view doing) {
  if (!result) {
    throw std::runtime_error{
        fmt::format("{}: {}: {}", doing, error_name(result.error().code), result.error().message)};
  }
  return std::move(*result);
}

/// Appends with the expected tail that the last read gave, beside a row that says how far the
/// writer has come: one batch, so that either both are there or neither.
class StoreTarget final : public Target {
 public:
  StoreTarget(SqliteStore& store, bool create) : store_{store} {
    if (!create) return;
    Batch batch{.home = kHome, .creates = {{.log = kLog, .if_missing = true}}};
    must(store_.commit(batch), "create");
  }

  bool append(std::uint32_t writer, std::uint64_t append,
              const std::vector<BytesView>& chunks) override {
    const std::string key = std::to_string(writer);
    for (;;) {
      const auto row = must(store_.get(kSpace, key), "get");
      std::uint64_t done = 0;
      if (row) std::memcpy(&done, row->value.data(), sizeof done);
      if (done > append) return true;
      const std::uint64_t next = append + 1;
      Batch batch{.home = kHome};
      batch.appends.push_back(
          {.log = kLog, .records = chunks, .expected_tail = Offset{tail_now()}});
      batch.puts.push_back({.space = kSpace,
                            .key = key,
                            .value = Bytes{reinterpret_cast<const char*>(&next), sizeof next},
                            .expected_version = row ? row->version : 0});
      const auto committed = store_.commit(batch);
      if (committed) return false;
      if (committed.error().code != ErrorCode::kStale) must(Result<Committed>{committed}, "commit");
    }
  }

  void follow(std::uint64_t from,
              const std::function<bool(std::uint64_t, BytesView)>& got) override {
    std::mutex mutex;
    std::condition_variable changed;
    bool called = false;
    const LogKey key{kHome, kLog};
    const Watch watch = must(store_.watch(key,
                                          [&] {
                                            const std::lock_guard guard{mutex};
                                            called = true;
                                            changed.notify_one();
                                          }),
                             "watch");
    for (Offset at{from};;) {
      const Records records = must(store_.read(key, at), "read");
      for (const Record& record : records.items) {
        if (!got(record.offset.value, record.bytes)) return;
      }
      at = records.next;
      if (!records.at_tail) continue;
      std::unique_lock lock{mutex};
      changed.wait(lock, [&] { return called; });
      called = false;
    }
  }

  std::uint64_t tail() override { return tail_now(); }

 private:
  static constexpr const char* kHome = "stream/kill";
  static constexpr const char* kLog = "log";
  static constexpr const char* kSpace = "writers";
  std::uint64_t tail_now() { return must(store_.tail({kHome, kLog}), "tail").tail.value; }
  SqliteStore& store_;
};

/// Appends as a producer: (id, epoch 0, K).
class StreamTarget final : public Target {
 public:
  StreamTarget(SqliteStore& store, bool create)
      : streams_{store},
        stream_{create ? must(streams_.create("kill"), "create").stream
                       : must(streams_.open("kill"), "open")} {}

  bool append(std::uint32_t writer, std::uint64_t append,
              const std::vector<BytesView>& chunks) override {
    const Producer producer{.id = fmt::format("w{}", writer), .epoch = 0, .seq = append};
    return must(stream_.append(chunks, {.producer = producer}), "append").duplicate;
  }
  void follow(std::uint64_t from,
              const std::function<bool(std::uint64_t, BytesView)>& got) override {
    auto follower = must(stream_.follow({.from = Offset{from}}), "follow");
    while (const auto chunk = follower.next()) {
      if (!got(chunk->offset.value, chunk->bytes)) return;
    }
    if (follower.error() != nullptr) throw std::runtime_error{follower.error()->message};
    throw std::runtime_error{"the follower ended, but nobody closed the stream"};
  }
  std::uint64_t tail() override { return must(stream_.tail(), "tail").tail.value; }

 private:
  Streams streams_;
  Stream stream_;
};

}  // namespace

std::unique_ptr<Target> make_target(Kind kind, SqliteStore& store, bool create) {
  if (kind == Kind::kStream) return std::make_unique<StreamTarget>(store, create);
  return std::make_unique<StoreTarget>(store, create);
}

}  // namespace holdfast::kill
