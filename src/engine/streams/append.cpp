// Appending. A plain append is one commit and no read; one with a producer or a Stream-Seq carries
// their row in the same commit, under the row's version.
#include <algorithm>
#include <latch>
#include <utility>

#include <fmt/format.h>

#include "core/log/names.h"
#include "core/stream/lifecycle.h"
#include "core/stream/producer.h"
#include "engine/streams/core.h"
#include "engine/streams/rows.h"

namespace holdfast::engine {
namespace {

constexpr int kTriesMax = 64;
constexpr std::size_t kStreamSeqBytesMax = 256;

std::vector<BytesView> views_of(const std::vector<Bytes>& chunks) {
  return {chunks.begin(), chunks.end()};
}

Appended appended(const AppendedRange& range, const AppendOptions& options) {
  Appended out;
  out.first = range.first;
  out.next = range.next;
  out.closed = options.close;
  if (options.producer) {
    out.producer_epoch = options.producer->epoch;
    out.producer_seq = options.producer->seq;
  }
  return out;
}

}  // namespace

// --- What every append does ---------------------------------------------------------------------

Result<void> StreamsCore::check_append(const HandlePtr& handle, std::span<const BytesView> chunks,
                                       const AppendOptions& options) {
  if (auto alive = check_alive(handle); !alive) return alive;
  if (options.producer) {
    if (auto good = core::check_producer_id(options.producer->id); !good) return good;
  }
  if (options.stream_seq.size() > kStreamSeqBytesMax) {
    return fail(Error{ErrorCode::kInvalidArgument,
                      fmt::format("a stream sequence has {} bytes: the limit is {}",
                                  options.stream_seq.size(), kStreamSeqBytesMax)}
                    .with(kStreamSeqBytesMax, options.stream_seq.size()));
  }
  const std::string& type = handle->record.content_type;
  if (!options.content_type.empty() &&
      core::normal_content_type(options.content_type) != core::normal_content_type(type)) {
    return fail(ErrorCode::kConflict,
                fmt::format("the stream '{}' holds {}, not {}: send what it holds",
                            core::printable(handle->name), core::printable(type),
                            core::printable(options.content_type)));
  }
  if (chunks.empty() && !options.close) {
    return fail(ErrorCode::kInvalidArgument,
                "nothing to append: give at least one chunk, or close the stream");
  }
  return check_chunks(handle->json, chunks);
}

Batch StreamsCore::append_batch(const StreamHandle& handle, std::span<const BytesView> chunks,
                                const AppendOptions& options, bool& slides) const {
  Batch batch{.home = handle.log.home};
  LogAppend& append = batch.appends.emplace_back();
  append.log = handle.log.log;
  append.records.assign(chunks.begin(), chunks.end());
  append.expected_tail = options.expected_tail;
  append.close = options.close;
  const auto& ttl = handle.record.ttl;
  const Timestamp current{handle.deadline.load()};
  slides = ttl && core::must_slide(*ttl, clock_.now(), current);
  if (slides) {
    const Timestamp deadline = core::slide_deadline(*ttl, clock_.now(), current);
    batch.puts.push_back({std::string{kDeadlineSpace},
                          handle.record.id.text(),
                          core::encode_deadline(deadline),
                          {}});
  }
  return batch;
}

void StreamsCore::after_append(const HandlePtr& handle, const Batch& batch,
                               const Committed& committed, bool slides) {
  if (slides) {
    if (const auto deadline = core::decode_deadline(batch.puts.front().value))
      handle->deadline = deadline->ms;
    handle->deadline_version = committed.row_versions.front();
  }
  std::uint64_t bytes = 0;
  for (const BytesView record : batch.appends.front().records) bytes += record.size();
  if (handle->tally(batch.appends.front().records.size(), bytes, clock_.now())) {
    background_.post([self = weak_from_this(), handle] {
      // What fails here is tried again at the next look.
      if (const auto core = self.lock()) (void)core->apply_retention(handle);
    });
  }
}

Error StreamsCore::append_error(StreamHandle& handle, Error error) {
  if (error.code == ErrorCode::kNotFound) {
    forget(handle.name, handle.record.id);
    return core::no_such_stream(handle.name);
  }
  if (error.code == ErrorCode::kClosed) {
    // Deletion closes a log that forks still need.
    Error gone = gone_error(handle);
    const auto stored = load(handle.name);
    const bool there =
        stored && *stored && (*stored)->record.id == handle.record.id && !(*stored)->record.deleted;
    if (stored && !there) return gone;
    error.message = fmt::format("the stream '{}' is closed and ends at offset {}: it takes no more",
                                core::printable(handle.name), error.actual);
  } else if (error.code == ErrorCode::kStale) {
    error.message =
        fmt::format("the stream '{}' ends at offset {} by now: read on and try again from there",
                    core::printable(handle.name), error.actual);
  }
  return error;
}

// --- Plain --------------------------------------------------------------------------------------

Result<Appended> StreamsCore::append(const HandlePtr& handle, std::span<const BytesView> chunks,
                                     const AppendOptions& options) {
  if (auto good = check_append(handle, chunks, options); !good)
    return fail(std::move(good.error()));
  if (options.producer || !options.stream_seq.empty())
    return append_guarded(handle, chunks, options);
  bool slides = false;
  const Batch batch = append_batch(*handle, chunks, options, slides);
  auto committed = store_.commit(batch);
  if (!committed) return fail(append_error(*handle, std::move(committed.error())));
  after_append(handle, batch, *committed, slides);
  return appended(committed->appends.at(0), options);
}

Result<StreamsCore::Marked> StreamsCore::append_marked(const HandlePtr& handle,
                                                       std::span<const BytesView> chunks,
                                                       const RowPut& row,
                                                       const std::string& dropped) {
  if (auto alive = check_alive(handle); !alive) return fail(std::move(alive.error()));
  bool slides = false;
  Batch batch = append_batch(*handle, chunks, {}, slides);
  // Without chunks only the row is written; a closed stream takes that, too.
  if (chunks.empty()) batch.appends.clear();
  batch.puts.push_back(row);
  if (!dropped.empty()) batch.deletes.push_back({row.space, dropped, {}});
  const auto committed = store_.commit(batch);
  if (!committed && committed.error().code == ErrorCode::kStale) return fail(committed.error());
  if (!committed) return fail(append_error(*handle, committed.error()));
  if (batch.appends.empty()) return Marked{{}, committed->row_versions.back()};
  after_append(handle, batch, *committed, slides);
  return Marked{committed->appends.front().next, committed->row_versions.back()};
}

// --- Guarded ------------------------------------------------------------------------------------

// One append with a producer or a Stream-Seq: decide against the rows, commit under their versions,
// and again if another process was faster. Appends of one producer take its slot in turn.
struct GuardedAppend : std::enable_shared_from_this<GuardedAppend> {
  StreamsCore& core;
  std::shared_ptr<StreamsCore> keep;  // of an asynchronous one
  HandlePtr handle;
  AppendOptions options;
  std::shared_ptr<ProducerSlot> slot;

  // Of an asynchronous one.
  std::vector<Bytes> owned;
  std::function<void(Result<Appended>)> done;
  int tries = 0;

  // Of the attempt under way.
  std::vector<BytesView> chunks;
  Batch batch;
  bool slides = false;
  core::ProducerState after{};

  GuardedAppend(StreamsCore& streams, HandlePtr stream, AppendOptions append_options)
      : core{streams},
        handle{std::move(stream)},
        options{std::move(append_options)},
        slot{handle->slot(options.stream_seq.empty() ? options.producer->id : std::string{})} {}

  [[nodiscard]] std::string producer_key() const {
    return joined(handle->record.id.text(), options.producer->id);
  }

  // The producer's state: cached if this slot is the producer's own, read otherwise.
  Result<void> load_state(std::optional<core::ProducerState>& state, std::uint64_t& version) {
    const bool own = options.stream_seq.empty();
    if (own && slot->known) {
      state = slot->state;
      version = slot->version;
      return {};
    }
    auto row = core.store_.get(kProducerSpace, producer_key());
    if (!row) return fail(std::move(row.error()));
    state.reset();
    version = 0;
    if (*row) {
      const auto decoded = core::decode_producer((*row)->value);
      if (!decoded) return fail(decoded.error());
      state = *decoded;
      version = (*row)->version;
    }
    if (own) {
      slot->known = true;
      slot->state = state;
      slot->version = version;
    }
    return {};
  }

  Result<core::ProducerDecision> decide(std::uint64_t& version) {
    std::optional<core::ProducerState> state;
    if (auto loaded = load_state(state, version); !loaded) return fail(std::move(loaded.error()));
    return core::decide_producer(state, options.producer->id, options.producer->epoch,
                                 options.producer->seq);
  }

  // Fills `batch`, or gives the answer to a duplicate.
  Result<std::optional<Appended>> prepare() {
    batch = core.append_batch(*handle, chunks, options, slides);
    if (options.producer) {
      std::uint64_t version = 0;
      auto decision = decide(version);
      // Another process may have gone on since this one last looked: what is remembered is enough
      // to accept, for the commit checks it, but not to refuse.
      if ((!decision || decision->duplicate) && std::exchange(slot->known, false)) {
        decision = decide(version);
      }
      if (!decision) return fail(decision.error());
      after = decision->after;
      if (decision->duplicate) return duplicate();
      batch.puts.push_back(
          {std::string{kProducerSpace}, producer_key(), core::encode_producer(after), version});
    }
    if (!options.stream_seq.empty()) {
      if (auto good = prepare_seq(); !good) return fail(std::move(good.error()));
    }
    if (chunks.empty()) {
      // Closing twice is no error, but it is for somebody else's tuple.
      const auto state = core.tail(handle);
      if (!state) return fail(state.error());
      if (state->closed) {
        return fail(core.append_error(
            *handle, Error{ErrorCode::kClosed, "closed"}.with(0, state->tail.value)));
      }
    }
    return std::optional<Appended>{};
  }

  Result<void> prepare_seq() {
    const std::string key = handle->record.id.text();
    auto row = core.store_.get(kSeqSpace, key);
    if (!row) return fail(std::move(row.error()));
    if (*row && options.stream_seq <= (*row)->value) {
      return fail(ErrorCode::kConflict,
                  fmt::format("the stream sequence '{}' does not come after '{}', the last one "
                              "given: give a greater one",
                              core::printable(options.stream_seq), core::printable((*row)->value)));
    }
    batch.puts.push_back(
        {std::string{kSeqSpace}, key, options.stream_seq, *row ? (*row)->version : 0});
    return {};
  }

  Result<std::optional<Appended>> duplicate() {
    const auto state = core.tail(handle);
    if (!state) return fail(state.error());
    Appended out;
    out.first = out.next = state->tail;
    out.duplicate = true;
    out.closed = state->closed;
    out.producer_epoch = after.epoch;
    out.producer_seq = after.seq;
    return std::optional{out};
  }

  Appended finish(const Committed& committed) {
    if (options.producer && options.stream_seq.empty()) {
      slot->known = true;
      slot->state = after;
      slot->version = committed.row_versions.at(slides ? 1 : 0);
    }
    core.after_append(handle, batch, committed, slides);
    return appended(committed.appends.at(0), options);
  }

  // A commit was refused: try again, or give this error. May read the store.
  std::optional<Error> refused(Error error) {
    slot->known = false;
    if (error.code != ErrorCode::kStale) return core.append_error(*handle, std::move(error));
    if (options.expected_tail) {
      const auto state = core.tail(handle);
      if (!state) return state.error();
      if (state->tail != *options.expected_tail)
        return core.append_error(*handle, std::move(error).with(0, state->tail.value));
    }
    if (++tries < kTriesMax) return std::nullopt;
    return Error{ErrorCode::kUnavailable,
                 fmt::format("producer '{}' writes from several places at once: let one of them "
                             "write, or try again",
                             core::printable(options.producer ? options.producer->id : ""))};
  }

  // --- On the caller's thread.
  Result<Appended> run() {
    for (;;) {
      auto answer = prepare();
      if (!answer) return fail(std::move(answer.error()));
      if (*answer) return **answer;
      auto committed = core.store_.commit(batch);
      if (committed) return finish(*committed);
      if (auto error = refused(std::move(committed.error()))) return fail(std::move(*error));
    }
  }

  // --- Without waiting. Holds the slot from start() to complete().
  void start() {
    {
      const std::lock_guard lock{slot->mutex};
      if (slot->busy) {
        slot->waiting.emplace_back([self = shared_from_this()] { self->attempt(); });
        return;
      }
      slot->busy = true;
    }
    attempt();
  }

  void attempt() {
    auto answer = prepare();
    if (!answer) return complete(fail(std::move(answer.error())));
    if (*answer) return complete(std::move(**answer));
    core.store_.commit_async(batch, [self = shared_from_this()](Result<Committed> committed) {
      if (committed) return self->complete(self->finish(*committed));
      // What follows may read the store, which must not be done here.
      self->core.background_.post([self, error = std::move(committed.error())]() mutable {
        if (auto final_error = self->refused(std::move(error)))
          return self->complete(fail(std::move(*final_error)));
        self->attempt();
      });
    });
  }

  void complete(Result<Appended> result) {
    release(*slot, core.background_);
    done(std::move(result));
  }

  static void release(ProducerSlot& slot, Background& background) {
    const std::lock_guard lock{slot.mutex};
    if (slot.waiting.empty()) {
      slot.busy = false;
      slot.freed.notify_one();
      return;
    }
    background.post(std::move(slot.waiting.front()));
    slot.waiting.pop_front();
  }
};

Result<Appended> StreamsCore::append_guarded(const HandlePtr& handle,
                                             std::span<const BytesView> chunks,
                                             const AppendOptions& options) {
  GuardedAppend append{*this, handle, options};
  append.chunks.assign(chunks.begin(), chunks.end());
  {
    std::unique_lock lock{append.slot->mutex};
    append.slot->freed.wait(lock, [&] { return !append.slot->busy; });
    append.slot->busy = true;
  }
  auto result = append.run();
  GuardedAppend::release(*append.slot, background_);
  return result;
}

// --- Asynchronous -------------------------------------------------------------------------------

void StreamsCore::append_async(const HandlePtr& handle, std::vector<Bytes> chunks,
                               AppendOptions options, std::function<void(Result<Appended>)> done) {
  const auto views = views_of(chunks);
  if (auto good = check_append(handle, views, options); !good)
    return done(fail(std::move(good.error())));
  if (options.producer || !options.stream_seq.empty()) {
    auto append = std::make_shared<GuardedAppend>(*this, handle, std::move(options));
    append->keep = shared_from_this();
    append->owned = std::move(chunks);
    append->chunks = views_of(append->owned);
    append->done = std::move(done);
    return append->start();
  }
  struct Plain {
    std::shared_ptr<StreamsCore> core;
    HandlePtr handle;
    std::vector<Bytes> chunks;
    AppendOptions options;
    std::function<void(Result<Appended>)> done;
    Batch batch;  // its records point into `chunks`
    bool slides = false;
  };
  auto plain = std::make_shared<Plain>();
  plain->core = shared_from_this();
  plain->handle = handle;
  plain->chunks = std::move(chunks);
  plain->options = std::move(options);
  plain->done = std::move(done);
  plain->batch = append_batch(*handle, views_of(plain->chunks), plain->options, plain->slides);
  store_.commit_async(plain->batch, [plain](Result<Committed> committed) {
    if (committed) {
      plain->core->after_append(plain->handle, plain->batch, *committed, plain->slides);
      return plain->done(appended(committed->appends.at(0), plain->options));
    }
    plain->core->background_.post([plain, error = std::move(committed.error())]() mutable {
      plain->done(fail(plain->core->append_error(*plain->handle, std::move(error))));
    });
  });
}

}  // namespace holdfast::engine
