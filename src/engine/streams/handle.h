// What one process knows of one stream while it uses it.
//
// Invariants
//   - What never changes (id, log, content type, segments) is read once.
//   - What may is a cache that can only be behind: a cached deadline is checked against its row
//     before a stream counts as expired, producers' states carry the version of their row into the
//     commit, so another process's change is met, not lost.
//   - The log is named by the stream's id: a handle to a stream that was deleted and made again
//     under its name finds no log, and never the new stream's.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include <holdfast/store.h>

#include "core/stream/lifecycle.h"
#include "core/stream/producer.h"
#include "core/stream/record.h"
#include "core/stream/retention.h"

namespace holdfast::engine {

class Channel;

/// Appends of one producer are decided one after another; this is its place.
struct ProducerSlot {
  std::mutex mutex;
  std::condition_variable freed;
  bool busy = false;                          // an append is under way
  std::deque<std::function<void()>> waiting;  // asynchronous ones that come after it
  // The row as last seen; `version` 0 means there is none.
  bool known = false;
  std::optional<core::ProducerState> state;
  std::uint64_t version = 0;
};

class StreamHandle {
 public:
  StreamHandle(std::string stream_name, core::StreamRecord stream_record)
      : name{std::move(stream_name)},
        record{std::move(stream_record)},
        log{core::stream_log(name, record.id)},
        json{core::is_json(record.content_type)},
        first{record.first.value},
        retention_{record.retention} {}

  const std::string name;
  const core::StreamRecord record;  ///< as it stood when opened: use only what never changes
  const LogKey log;
  const bool json;

  std::atomic<bool> gone{false};          ///< this process has seen that it was deleted
  std::atomic<std::uint64_t> first;       ///< the oldest chunk shown, at least
  std::atomic<std::int64_t> deadline{0};  ///< with a ttl: as last seen or written, ms
  std::atomic<std::uint64_t> deadline_version{0};

  /// Takes over what may have changed.
  void refresh(const core::StreamRecord& now) {
    raise_first(now.first);
    const std::lock_guard lock{mutex_};
    retention_ = now.retention;
  }
  void raise_first(Offset to) {
    std::uint64_t seen = first.load();
    while (seen < to.value && !first.compare_exchange_weak(seen, to.value)) {
    }
  }
  [[nodiscard]] Retention retention() const {
    const std::lock_guard lock{mutex_};
    return retention_;
  }

  /// Counts an append; true if somebody should look now whether too much is kept.
  [[nodiscard]] bool tally(std::uint64_t chunks, std::uint64_t bytes, Timestamp now) {
    const std::lock_guard lock{mutex_};
    if (retention_ == Retention{}) return false;
    if (tally_.looked.ms == 0) tally_.looked = now;
    tally_.chunks += chunks;
    tally_.bytes += bytes;
    if (!core::retention_due(retention_, tally_, now)) return false;
    tally_ = {0, 0, now};
    return true;
  }

  [[nodiscard]] std::shared_ptr<ProducerSlot> slot(std::string_view producer) {
    const std::lock_guard lock{mutex_};
    if (slots_.size() >= kSlotsMax) {
      std::erase_if(slots_, [](const auto& item) { return item.second.use_count() == 1; });
    }
    auto& slot = slots_[std::string{producer}];
    if (!slot) slot = std::make_shared<ProducerSlot>();
    return slot;
  }

  std::mutex channel_mutex;
  std::weak_ptr<Channel> channel;  ///< guarded by channel_mutex

 private:
  static constexpr std::size_t kSlotsMax = 1'024;

  mutable std::mutex mutex_;
  Retention retention_;
  core::RetentionTally tally_;
  std::unordered_map<std::string, std::shared_ptr<ProducerSlot>> slots_;
};

}  // namespace holdfast::engine
