// Streams: logs of user bytes that many can follow.
//
//   Streams streams{*store};
//   auto stream = streams.create("chat/1");
//   stream->stream.append({"hello"});
//   auto follower = stream->stream.follow({.from = saved});
//   while (auto chunk = follower.next()) saved = chunk->next;
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/bytes.h>
#include <holdfast/clock.h>
#include <holdfast/ids.h>
#include <holdfast/random.h>
#include <holdfast/result.h>
#include <holdfast/store.h>

namespace holdfast {

/// The longest name of a stream: its home's, which has a prefix, must fit kNameBytesMax.
inline constexpr std::size_t kStreamNameBytesMax = 500;

/// How much of a stream is kept; unset limits do not bind. Applied in the background, in whole
/// stored blocks: somewhat more may be kept, never less.
struct Retention {
  std::optional<std::uint64_t> chunks_max{};
  std::optional<std::uint64_t> bytes_max{};
  std::optional<std::chrono::milliseconds> age_max{};
  friend bool operator==(const Retention&, const Retention&) = default;
};

/// What a stream is made with. Creating it again with the same options is no error, also if it has
/// been closed since.
struct StreamOptions {
  /// Media type, as given; compared without parameters and case. Empty: "application/octet-stream",
  /// or the source's for a fork. With "application/json" each chunk must be one JSON value.
  std::string content_type{};
  /// Deleted this long after the last read or append. Not together with `expires_at`.
  std::optional<std::chrono::seconds> ttl{};
  /// Deleted at this moment.
  std::optional<Timestamp> expires_at{};
  Retention retention{};
  /// Born with these chunks, and closed if asked, in the same commit. Borrowed until create()
  /// returns.
  std::vector<BytesView> chunks{};
  bool closed = false;
};

/// Where a fork leaves its source.
struct ForkOptions {
  /// The fork shares [first, at) with its source; unset: up to the tail.
  std::optional<Offset> at{};
  /// Take also this much of the source past `at`: chunks for JSON streams, bytes of the chunk at
  /// `at` for others. 0 takes nothing. Beyond what is there: `kInvalidArgument`.
  std::uint64_t sub_offset = 0;
};

/// A writer that repeats itself safely: the same (id, epoch, seq) is taken once. The first seq of
/// an epoch is 0, each next append has the next number. A higher epoch fences the lower ones out.
struct Producer {
  std::string id;
  std::uint64_t epoch = 0;
  std::uint64_t seq = 0;
};

struct AppendOptions {
  std::optional<Producer> producer{};
  /// Must be greater, as bytes, than the last one given (`kConflict` otherwise). Empty: not
  /// checked.
  std::string stream_seq{};
  /// If set, must match the stream's content type (`kConflict`).
  std::string content_type{};
  /// If set, must be the tail: `kStale`, `actual` = the tail.
  std::optional<Offset> expected_tail{};
  /// Close the stream with the last chunk, in the same commit.
  bool close = false;
};

struct Appended {
  Offset first{};          ///< of the chunks just written
  Offset next{};           ///< the tail right after them
  bool duplicate = false;  ///< the producer had sent this before: nothing was written
  bool closed = false;
  std::uint64_t producer_epoch = 0;  ///< the producer's state after this append
  std::uint64_t producer_seq = 0;
};

struct StreamInfo {
  std::string name;
  Ulid id{};  ///< differs when a stream is deleted and made again under its name
  std::string content_type;
  Offset first{};  ///< the oldest chunk kept
  Offset tail{};
  bool closed = false;
  std::uint64_t bytes = 0;  ///< payload bytes ever appended to it (a fork: since the fork)
  Timestamp created{};
  std::optional<std::chrono::seconds> ttl{};
  std::optional<Timestamp> expires_at{};
  Retention retention{};
  std::string forked_from{};  ///< name of the source; empty if none
  Offset fork_offset{};
};

/// One chunk as a reader gets it. `bytes` lives until the next call on the follower or, from
/// read(), as long as the `Chunks`.
struct Chunk {
  Offset offset{};
  Offset next{};  ///< the cursor after this chunk: save it, and read on from it
  BytesView bytes{};
};

/// Where to read from: an offset; the tail; or so many chunks before the tail (clamped to the
/// first).
class From {
 public:
  constexpr From() = default;  ///< the beginning: the oldest chunk kept
  constexpr From(Offset at)
      : kind_{Kind::kAt}, value_{at.value} {}  // NOLINT(google-explicit-constructor)
  [[nodiscard]] static constexpr From beginning() { return {}; }
  [[nodiscard]] static constexpr From tail() { return last(0); }
  [[nodiscard]] static constexpr From last(std::uint64_t chunks) {
    From from;
    from.kind_ = Kind::kLast;
    from.value_ = chunks;
    return from;
  }
  enum class Kind : std::uint8_t { kBeginning, kAt, kLast };
  [[nodiscard]] constexpr Kind kind() const { return kind_; }
  [[nodiscard]] constexpr std::uint64_t value() const { return value_; }

 private:
  Kind kind_ = Kind::kBeginning;
  std::uint64_t value_ = 0;
};

struct ReadOptions {
  From from{};
  ReadLimits limits{};
  /// Merge consecutive deltas: JSON lines that are equal but for their string member "delta" become
  /// one line whose delta is theirs joined; its `next` is the cursor after its last constituent.
  bool folded = false;
};

/// Chunks [from, next) of one snapshot. Owns the bytes.
struct Chunks {
  std::vector<Chunk> items{};
  Offset from{};         ///< where the read began, once `From` was resolved
  Offset next{};         ///< where to read on
  bool at_tail = false;  ///< nothing lay beyond `next`
  bool closed = false;   ///< at the tail of a closed stream: this is the end
  std::vector<std::unique_ptr<char[]>> arena{};
};

struct FollowOptions {
  From from{};
  /// Chunks are read ahead in blocks of at most this much: the bound of a slow follower's memory.
  ReadLimits limits{};
};

namespace engine {
class StreamsCore;
class FollowerCore;
class StreamHandle;
struct StreamAccess;
}  // namespace engine

/// Reads what is there, then waits for what comes. One thread at a time, but for stop(). Idle, it
/// costs nothing: no polling, no timer.
class Follower {
 public:
  Follower(Follower&&) noexcept;
  Follower& operator=(Follower&&) noexcept;
  ~Follower();

  /// The next chunk; waits for one. Nothing when the follower is at its end: the stream was closed,
  /// stop() was called, or reading failed (see `error`).
  std::optional<Chunk> next();
  /// The same, waiting at most so long; nothing on timeout, too (`ended` tells them apart).
  std::optional<Chunk> next_for(std::chrono::milliseconds wait);
  /// A chunk if one can be had without waiting.
  std::optional<Chunk> try_next();

  /// Calls `ready`, once, when try_next() may give something new or the follower has ended; at once
  /// if that is so already. It runs on the store's watching thread or the caller's, and must only
  /// post.
  void async_wait(std::function<void()> ready);

  /// Makes next() return nothing, now and later. From any thread.
  void stop();
  /// No more chunks will come.
  [[nodiscard]] bool ended() const;
  /// The stream was closed and everything was read.
  [[nodiscard]] bool closed() const;
  /// Why it ended early, if it did; null otherwise.
  [[nodiscard]] const Error* error() const;
  /// Where the next chunk begins.
  [[nodiscard]] Offset cursor() const;

 private:
  friend struct engine::StreamAccess;
  explicit Follower(std::shared_ptr<engine::FollowerCore> core);
  std::shared_ptr<engine::FollowerCore> core_;  // shared with wake-ups that are under way
};

/// A stream that exists. A cheap handle: copies mean the same stream. Thread-safe. Once the stream
/// is deleted every call gives `kNotFound`, also when another is made under its name.
class Stream {
 public:
  [[nodiscard]] const std::string& name() const;
  /// As it stands now. Does not renew the TTL.
  [[nodiscard]] Result<StreamInfo> info() const;
  /// First, tail and closed, from at most one row. Does not renew the TTL.
  [[nodiscard]] Result<LogState> tail() const;

  /// Appends chunks in one commit; returns when they are durable. Errors: `kClosed`, `kFenced`,
  /// `kSequenceGap`, `kConflict`, `kStale`, `kInvalidArgument`, `kNotFound`, and those of a commit.
  Result<Appended> append(std::span<const BytesView> chunks, const AppendOptions& options = {});
  Result<Appended> append(BytesView chunk, const AppendOptions& options = {});
  /// The same without blocking; `done` runs on a thread of the store and must only post.
  void append_async(std::vector<Bytes> chunks, AppendOptions options,
                    std::function<void(Result<Appended>)> done);
  /// Closes the stream; closing it again changes nothing.
  Result<Appended> close();

  [[nodiscard]] Result<Chunks> read(const ReadOptions& options = {}) const;
  [[nodiscard]] Result<Follower> follow(const FollowOptions& options = {}) const;
  /// Calls `changed` after every change; see Store::watch.
  [[nodiscard]] Result<Watch> watch(WatchCallback changed) const;

  /// Drops the chunks before `before`; what a fork still needs is kept for the fork alone.
  Result<void> trim(Offset before);
  /// Changes what is kept, and applies it.
  Result<void> set_retention(const Retention& retention);

 private:
  friend struct engine::StreamAccess;
  Stream(std::shared_ptr<engine::StreamsCore> core, std::shared_ptr<engine::StreamHandle> handle);
  std::shared_ptr<engine::StreamsCore> core_;  // shared with handles and followers
  std::shared_ptr<engine::StreamHandle> handle_;
};

struct CreatedStream {
  Stream stream;
  bool created = false;  ///< false: it was there already, with the same options
};

struct StreamPage {
  std::vector<StreamInfo> streams{};
  std::string next_after{};  ///< give as `after` for the next page; empty at the end
};

/// All streams of a store. Thread-safe; the store and clock must outlive it and its streams.
class Streams {
 public:
  /// `random` makes the ids of new streams.
  explicit Streams(Store& store, const Clock& clock = system_clock(),
                   Random random = Random::from_system());

  /// Makes a stream, or finds it if it is there with the same options (`kAlreadyExists` with
  /// others, `kConflict` if a deleted stream of that name is kept for its forks). Names: 1 to 500
  /// bytes of UTF-8, parts between slashes not empty, "." or "..", no control characters.
  Result<CreatedStream> create(std::string_view name, const StreamOptions& options = {});
  /// Makes a stream that shares its source's past by reference: O(1), whatever the length. Deleting
  /// the source keeps what its forks need.
  Result<CreatedStream> fork(std::string_view source, std::string_view name,
                             const ForkOptions& where = {}, const StreamOptions& options = {});
  /// `kNotFound` if it is not there or has expired; `kGone` if it was deleted but forks need it.
  Result<Stream> open(std::string_view name);
  Result<void> remove(std::string_view name);
  /// Streams in name order that begin with `prefix`, after the name `after`.
  Result<StreamPage> list(std::string_view prefix = {}, std::string_view after = {},
                          std::size_t limit = 100);
  /// Calls `changed` when streams are made or deleted.
  Result<Watch> watch_list(WatchCallback changed);

  /// Deletes expired streams, applies age limits and finishes what a crash interrupted. Costs what
  /// is due. Returns when the next is due, if any.
  Result<std::optional<Timestamp>> sweep();

 private:
  friend struct engine::StreamAccess;
  std::shared_ptr<engine::StreamsCore> core_;
};

}  // namespace holdfast
