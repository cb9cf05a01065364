// Sealing: a log's older blocks, merged and compressed, beside readers and writers.
//
//   before   [hot][hot][hot] … [hot][hot][hot][tail]
//   after    [    sealed   ] … [   sealed   ][tail]
//
// Invariants
//   - The tail block is never sealed, so what writers keep of it stays right.
//   - Reading and compressing happen outside the write transaction; inside it, a sealed block takes
//     the place of exactly the blocks it was made of, or nothing happens.
//   - A sealed block is decompressed and compared before it is written.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <holdfast/sqlite_store.h>

#include "core/log/block.h"
#include "store/sqlite/compression.h"
#include "store/sqlite/database.h"
#include "store/sqlite/writer.h"

namespace holdfast::store {

/// Seals logs one by one. One thread at a time.
class LogSealer {
 public:
  enum class Extent : std::uint8_t {
    kWholeSegments,  ///< leave what does not fill a segment
    kEverything,     ///< all but the tail block
  };
  [[nodiscard]] static Result<std::unique_ptr<LogSealer>> make(Connection connection,
                                                               Writer& writer);

  /// Adds what was done to `report`; calls `looked` with how many blocks were read. `ended` makes
  /// it return early.
  Result<void> seal(std::uint64_t log_id, Extent extent, SealReport& report,
                    const std::function<void(std::uint64_t)>& looked,
                    const std::function<bool()>& ended);
  /// Ids of logs after `id`, a page of them; empty at the end.
  Result<std::vector<std::uint64_t>> logs_after(std::uint64_t id);
  [[nodiscard]] Connection& connection() { return connection_; }

 private:
  struct Source {
    core::BlockKey key{};
    std::uint64_t checksum = 0;
  };
  struct Segment {
    std::vector<Source> sources;
    core::BlockHeader header{};
    std::uint64_t bytes_before = 0;
    std::string block;
  };

  LogSealer(Connection connection, Writer& writer)
      : connection_{std::move(connection)}, writer_{writer} {}
  Result<std::optional<core::BlockKey>> find_start(std::uint64_t log_id);
  Result<std::vector<Segment>> gather(core::BlockKey from, Extent extent,
                                      const std::function<void(std::uint64_t)>& looked);
  Result<void> add_block(Segment& segment, core::BlockKey key, BytesView block);
  Result<void> close_segment(Segment& segment);
  Result<std::size_t> write(const std::vector<Segment>& segments);
  Result<bool> replace(Connection& connection, const Segment& segment);

  Connection connection_;
  Writer& writer_;
  Statement backwards_, forwards_, tail_, logs_;
  Compressor compressor_;
  Decompressor decompressor_;
  // Of the segment that is being gathered: its records' lengths and payloads.
  std::string lengths_;
  std::string payloads_;
  std::string scratch_;
  std::vector<Record> records_;
};

/// The thread that seals logs which have grown.
class BackgroundSealer {
 public:
  using Make = std::function<Result<std::unique_ptr<LogSealer>>()>;
  explicit BackgroundSealer(Make make) : make_{std::move(make)} {}
  BackgroundSealer(const BackgroundSealer&) = delete;
  BackgroundSealer& operator=(const BackgroundSealer&) = delete;
  ~BackgroundSealer() { stop(); }

  /// This log's older blocks are worth sealing. Returns at once.
  void want(std::uint64_t log_id);
  /// Ends the thread, soon.
  void stop();

 private:
  void run();

  Make make_;
  std::mutex mutex_;
  std::condition_variable wakes_;
  // Guarded by mutex_.
  std::set<std::uint64_t> wanted_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace holdfast::store
