// Streams over a store: all that the public face (stream.h) promises, done in commits.
//
// What is kept where. A stream's home is "stream/<name>"; there are its log (named by its id) and
// these rows:
//
//   space            key                            what
//   stream           <name>                         the record (core/stream/record.h)
//   stream.deadline  <id>                           with a ttl: when it ends
//   stream.producer  <id>/<producer id>             last (epoch, seq)
//   stream.seq       <id>                           last Stream-Seq
//   stream.pin       <source id>/<fork id>          in the source's home: a fork needs it
//   stream.birth     <fork id>                      in the fork's home: whether it was born or
//   undone stream.due       <time>/<kind>/<name>/<id>      when to look: expiry, age limit
//   stream.outbox    <name>/<id>/<kind>             what is still owed after a commit
//   stream.import    <id>/<source>/<n>              how far an import has come
//
// Invariants
//   - A warm plain append is one commit and no read.
//   - What takes commits in two homes leaves an outbox row in the first; it is done at once, or by
//     sweep() after a crash, and doing it twice changes nothing.
//   - A fork is counted in its source's record, under that row's version, before it exists.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <holdfast/random.h>
#include <holdfast/store.h>
#include <holdfast/stream.h>

#include "core/stream/fork_plan.h"
#include "core/stream/record.h"
#include "engine/streams/background.h"
#include "engine/streams/handle.h"

namespace holdfast::engine {

inline constexpr std::string_view kStreamSpace = "stream";
inline constexpr std::string_view kDeadlineSpace = "stream.deadline";
inline constexpr std::string_view kProducerSpace = "stream.producer";
inline constexpr std::string_view kSeqSpace = "stream.seq";
inline constexpr std::string_view kPinSpace = "stream.pin";
inline constexpr std::string_view kBirthSpace = "stream.birth";
inline constexpr std::string_view kDueSpace = "stream.due";
inline constexpr std::string_view kOutboxSpace = "stream.outbox";
inline constexpr std::string_view kImportSpace = "stream.import";

class Subscription;
using HandlePtr = std::shared_ptr<StreamHandle>;

/// A record with the version of its row.
struct StoredRecord {
  core::StreamRecord record;
  std::uint64_t version = 0;
};

class StreamsCore : public std::enable_shared_from_this<StreamsCore> {
 public:
  StreamsCore(Store& store, const Clock& clock, Random random);

  // --- create.cpp, fork.cpp, remove.cpp
  struct Made {
    HandlePtr handle;
    bool created = false;
  };
  Result<Made> create(std::string_view name, const StreamOptions& options);
  Result<Made> fork(std::string_view source, std::string_view name, const ForkOptions& where,
                    const StreamOptions& options);
  Result<HandlePtr> open(std::string_view name);
  Result<void> remove(std::string_view name);

  // --- list.cpp
  Result<StreamPage> list(std::string_view prefix, std::string_view after, std::size_t limit);
  Result<Watch> watch_list(WatchCallback changed);
  Result<StreamInfo> info(const HandlePtr& handle);

  // --- append.cpp
  Result<Appended> append(const HandlePtr& handle, std::span<const BytesView> chunks,
                          const AppendOptions& options);
  void append_async(const HandlePtr& handle, std::vector<Bytes> chunks, AppendOptions options,
                    std::function<void(Result<Appended>)> done);
  /// Appends chunks, known to be good, with a row of the stream's home in the same commit. `kStale`
  /// speaks of the row. `dropped`: the key of a row of that space to delete; empty for none.
  struct Marked {
    Offset next{};
    std::uint64_t row_version = 0;
  };
  Result<Marked> append_marked(const HandlePtr& handle, std::span<const BytesView> chunks,
                               const RowPut& row, const std::string& dropped);

  // --- read.cpp
  Result<Chunks> read(const HandlePtr& handle, const ReadOptions& options);
  /// From one offset, as stored; the stream's use is not noted.
  Result<Chunks> read_at(const HandlePtr& handle, Offset from, const ReadLimits& limits);
  /// The same for followers: an end by deletion is told apart from an end by closing.
  Result<Chunks> read_for_followers(const HandlePtr& handle, Offset from, const ReadLimits& limits);
  Result<LogState> tail(const HandlePtr& handle);
  /// The offset that `from` means now. The beginning costs no read: it may have been trimmed.
  Result<Offset> resolve(const HandlePtr& handle, const From& from);
  /// Refuses streams that are gone or have expired; renews the ttl of others.
  Result<void> note_use(const HandlePtr& handle);
  Result<void> check_alive(const HandlePtr& handle);

  // --- hub.cpp
  Result<std::unique_ptr<Subscription>> subscribe(const HandlePtr& handle, const From& from,
                                                  const ReadLimits& limits);

  // --- retention.cpp, sweep.cpp
  Result<void> trim(const HandlePtr& handle, Offset before);
  Result<void> set_retention(const HandlePtr& handle, const Retention& retention);
  Result<void> apply_retention(const HandlePtr& handle);
  Result<std::optional<Timestamp>> sweep();

  [[nodiscard]] Store& store() const { return store_; }
  [[nodiscard]] const Clock& clock() const { return clock_; }
  [[nodiscard]] Background& background() { return background_; }

 private:
  friend struct GuardedAppend;

  // Rows.
  Result<std::optional<StoredRecord>> load(std::string_view name);
  Result<std::optional<Timestamp>> load_deadline(const core::StreamRecord& record,
                                                 std::uint64_t& version);
  // Whether the stream has outlived its ttl or moment. Reads the deadline's row if there is a ttl.
  Result<bool> expired(const core::StreamRecord& record);
  Ulid make_id();

  // Handles.
  HandlePtr adopt(std::string_view name, const core::StreamRecord& record);
  void forget(std::string_view name, const Ulid& id);
  Result<void> load_deadline_into(StreamHandle& handle);
  Error gone_error(StreamHandle& handle);

  // Creating. What a new stream's first commit holds beside its log.
  struct Birth {
    Batch batch;
    Bytes prefix;                 // of a fork: the part of a chunk that it begins with
    std::size_t deadline_at = 0;  // place among the puts
  };
  Result<void> check_chunks(bool json, std::span<const BytesView> chunks) const;
  void add_birth_rows(std::string_view name, const core::StreamRecord& record, Batch& batch) const;
  Result<std::optional<Made>> find_same(std::string_view name, const StreamOptions& options,
                                        std::string_view source, const ForkOptions* where);

  // Forking.
  Result<std::optional<Made>> try_fork(std::string_view source, std::string_view name,
                                       const ForkOptions& where, const StreamOptions& options);
  Result<core::StreamRecord> plan_fork(std::string_view source_name,
                                       const core::StreamRecord& source, const ForkOptions& where,
                                       const StreamOptions& options, Bytes& prefix);
  Result<void> pin(std::string_view source, const StoredRecord& stored, std::string_view fork,
                   const Ulid& fork_id);
  Result<void> unpin(std::string_view source, const Ulid& source_id, const Ulid& fork_id);

  // Removing. `expired_only`: only if its deadline, as read under its row's version, has passed.
  enum class Why : std::uint8_t { kAsked, kExpired };
  Result<void> remove_stored(std::string_view name, const StoredRecord& stored, Why why);
  Result<void> removal_batch(std::string_view name, const core::StreamRecord& record, Batch& batch);
  Result<void> clean_up(std::string_view name, const Ulid& id);
  Result<bool> purge_rows(std::string_view space, std::string_view home, const Ulid& id);

  // Appending.
  Result<void> check_append(const HandlePtr& handle, std::span<const BytesView> chunks,
                            const AppendOptions& options);
  Batch append_batch(const StreamHandle& handle, std::span<const BytesView> chunks,
                     const AppendOptions& options, bool& slides) const;
  void after_append(const HandlePtr& handle, const Batch& batch, const Committed& committed,
                    bool slides);
  Error append_error(StreamHandle& handle, Error error);
  Result<Appended> append_guarded(const HandlePtr& handle, std::span<const BytesView> chunks,
                                  const AppendOptions& options);

  // Sweeping.
  Result<void> finish_outbox();
  Result<void> settle_pin(const Row& row);
  Result<void> handle_due(const Row& row, Timestamp now);

  Store& store_;
  const Clock& clock_;
  std::mutex mutex_;
  Random random_;                                       // guarded by mutex_
  std::unordered_map<std::string, HandlePtr> handles_;  // guarded by mutex_
  Background background_;                               // last: its tasks use the rest
};

/// The way from the public handles to their core, for the engine and the faces.
struct StreamAccess {
  static Stream stream(std::shared_ptr<StreamsCore> core, HandlePtr handle) {
    return Stream{std::move(core), std::move(handle)};
  }
  static const std::shared_ptr<StreamsCore>& core(const Stream& stream) { return stream.core_; }
  static const HandlePtr& handle(const Stream& stream) { return stream.handle_; }
  static const std::shared_ptr<StreamsCore>& core(const Streams& streams) { return streams.core_; }
  static Follower follower(std::shared_ptr<FollowerCore> core) { return Follower{std::move(core)}; }
};

}  // namespace holdfast::engine
