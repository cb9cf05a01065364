#include "engine/streams/hub.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/streams/channel.h"
#include "engine/streams/core.h"

namespace holdfast::engine {
namespace {

constexpr std::size_t kRingBlocksMax = 1'024;
constexpr ReadLimits kRingRead{.records_max = 16'384, .bytes_max = kRingBytesMax / 2};
constexpr int kTriesMax = 64;

std::size_t bytes_of(const Chunks& chunks) {
  std::size_t bytes = 0;
  for (const Chunk& chunk : chunks.items) bytes += chunk.bytes.size() + sizeof(Chunk);
  return bytes;
}

Subscription::Take just(Subscription::State state) {
  Subscription::Take take;
  take.state = state;
  return take;
}

Subscription::Take failed(Error error) {
  Subscription::Take take;
  take.state = Subscription::State::kError;
  take.error = std::move(error);
  return take;
}

}  // namespace

// --- Channel ------------------------------------------------------------------------------------

Result<std::shared_ptr<Channel>> Channel::make(StreamsCore& core, StreamHandle& handle) {
  auto channel = std::make_shared<Channel>();
  channel->core_ = &core;
  // The state alone: the channel may end while a wake-up is under way.
  auto watch = core.store().watch(handle.log, [state = channel->state_] {
    {
      const std::lock_guard lock{state->mutex};
      ++state->changes;
    }
    fire(*state);
  });
  if (!watch) return fail(std::move(watch.error()));
  channel->watch_ = std::move(*watch);
  return channel;
}

Channel::~Channel() {
  // A watch must not end inside its own callback.
  if (!watch_ || state_->firing_thread.load() != std::this_thread::get_id()) return;
  auto watch = std::make_shared<Watch>(std::move(watch_));
  core_->background().post([watch] {});
}

void Channel::fire(State& state, Subscription* only) {
  const bool nested = state.firing_thread.load() == std::this_thread::get_id();
  std::unique_lock firing{state.firing, std::defer_lock};
  if (!nested) firing.lock();
  std::vector<std::function<void()>> callbacks;
  {
    const std::lock_guard lock{state.mutex};
    const auto take = [&](Subscription& subscriber) {
      subscriber.waiting_ = false;
      callbacks.push_back(std::exchange(subscriber.ready_, nullptr));
    };
    if (only != nullptr) {
      if (state.waiting.erase(only) != 0) take(*only);
    } else {
      for (Subscription* subscriber : state.waiting) take(*subscriber);
      state.waiting.clear();
    }
  }
  if (callbacks.empty()) return;
  if (!nested) state.firing_thread = std::this_thread::get_id();
  for (auto& callback : callbacks) {
    callback();
    callback = nullptr;
  }
  if (!nested) state.firing_thread = std::thread::id{};
}

void Channel::join(Subscription& /*subscriber*/) {
  const std::lock_guard lock{state_->mutex};
  ++state_->subscribers;
}

void Channel::leave(Subscription& subscriber) {
  disarm(subscriber);
  const std::lock_guard lock{state_->mutex};
  --state_->subscribers;
}

void Channel::wake(Subscription& subscriber) { fire(*state_, &subscriber); }

bool Channel::available(const State& state, const Subscription& subscriber) {
  if (subscriber.stopped_ || !state.end || subscriber.cursor_ < *state.end) return true;
  if (state.changes != state.changes_seen || subscriber.cursor_ > *state.end)
    return !state.reading;  // whoever reads will fire
  return state.closed;
}

void Channel::arm(Subscription& subscriber, std::function<void()> ready) {
  {
    const std::lock_guard lock{state_->mutex};
    if (!available(*state_, subscriber)) {
      subscriber.ready_ = std::move(ready);
      subscriber.waiting_ = true;
      state_->waiting.insert(&subscriber);
      if (state_->waiting.size() == state_->subscribers) {
        state_->ring.clear();
        state_->ring_bytes = 0;
      }
      return;
    }
  }
  ready();
}

void Channel::disarm(Subscription& subscriber) {
  std::unique_lock firing{state_->firing, std::defer_lock};
  if (state_->firing_thread.load() != std::this_thread::get_id()) firing.lock();
  std::function<void()> dropped;  // destroyed outside the lock
  const std::lock_guard lock{state_->mutex};
  if (!subscriber.waiting_) return;
  state_->waiting.erase(&subscriber);
  subscriber.waiting_ = false;
  dropped = std::exchange(subscriber.ready_, nullptr);
}

std::uint64_t Channel::changes() const {
  const std::lock_guard lock{state_->mutex};
  return state_->changes;
}

void Channel::reached(Offset tail, bool closed, std::uint64_t seen) {
  const std::lock_guard lock{state_->mutex};
  if (state_->end) return;
  state_->end = tail;
  state_->closed = closed;
  state_->changes_seen = seen;
}

void Channel::publish(Chunks&& chunks, std::uint64_t seen) {
  {
    const std::lock_guard lock{state_->mutex};
    State& state = *state_;
    state.reading = false;
    // A block cut short by its limits leaves more to read.
    if (chunks.at_tail) state.changes_seen = seen;
    state.closed = chunks.closed;
    state.end = chunks.next;
    if (!chunks.items.empty()) {
      state.ring_bytes += bytes_of(chunks);
      state.ring.push_back(std::make_shared<const Chunks>(std::move(chunks)));
    }
    while (state.ring.size() > 1 &&
           (state.ring_bytes > kRingBytesMax || state.ring.size() > kRingBlocksMax)) {
      state.ring_bytes -= bytes_of(*state.ring.front());
      state.ring.pop_front();
    }
  }
  fire(*state_);
}

std::optional<Subscription::Take> Channel::take(StreamsCore& core,
                                                const std::shared_ptr<StreamHandle>& handle,
                                                Subscription& subscriber) {
  for (;;) {
    Offset from;
    std::uint64_t seen = 0;
    {
      const std::lock_guard lock{state_->mutex};
      State& state = *state_;
      const Offset cursor = subscriber.cursor_;
      if (!state.end) return std::nullopt;
      if (cursor < *state.end) {
        if (state.ring.empty() || cursor < state.ring.front()->from) return std::nullopt;
        const auto block = std::ranges::upper_bound(state.ring, cursor, {},
                                                    [](const auto& at) { return at->next; });
        Subscription::Take take = just(Subscription::State::kBlock);
        take.block = *block;
        take.begin = static_cast<std::size_t>(cursor - (*block)->items.front().offset);
        take.at_tail = (*block)->next == *state.end && state.changes == state.changes_seen;
        subscriber.cursor_ = (*block)->next;
        return take;
      }
      if (cursor == *state.end && state.changes == state.changes_seen)
        return just(state.closed ? Subscription::State::kEnd : Subscription::State::kWait);
      if (state.reading) return just(Subscription::State::kWait);
      state.reading = true;
      from = *state.end;
      seen = state.changes;
    }
    auto chunks = core.read_for_followers(handle, from, kRingRead);
    if (chunks) {
      publish(std::move(*chunks), seen);
      continue;
    }
    {
      // Each who waits meets the error for itself, or finds that it has passed.
      const std::lock_guard lock{state_->mutex};
      state_->reading = false;
      if (chunks.error().code == ErrorCode::kGone) {
        state_->end.reset();
        state_->ring.clear();
        state_->ring_bytes = 0;
      }
    }
    fire(*state_);
    if (chunks.error().code == ErrorCode::kGone && !handle->gone) return std::nullopt;
    return failed(std::move(chunks.error()));
  }
}

// --- Subscription -------------------------------------------------------------------------------

Subscription::Subscription(std::shared_ptr<StreamsCore> core, std::shared_ptr<StreamHandle> handle,
                           std::shared_ptr<Channel> channel, Offset cursor, bool from_beginning,
                           const ReadLimits& limits)
    : core_{std::move(core)},
      handle_{std::move(handle)},
      channel_{std::move(channel)},
      cursor_{cursor},
      from_beginning_{from_beginning},
      limits_{limits} {
  channel_->join(*this);
}

Subscription::~Subscription() { channel_->leave(*this); }

Subscription::Take Subscription::take() {
  if (stopped_) return just(State::kStopped);
  if (auto shared = channel_->take(*core_, handle_, *this)) {
    from_beginning_ = from_beginning_ && shared->state == State::kWait;
    return std::move(*shared);
  }
  return read_own();
}

Subscription::Take Subscription::read_own() {
  for (int tries = 0;; ++tries) {
    const std::uint64_t seen = channel_->changes();
    auto chunks = core_->read_for_followers(handle_, cursor_, limits_);
    if (!chunks) {
      const Error& error = chunks.error();
      const bool trimmed = error.code == ErrorCode::kGone && error.actual > cursor_.value;
      if (!trimmed || !from_beginning_ || tries == kTriesMax)
        return failed(std::move(chunks.error()));
      cursor_ = Offset{error.actual};
      continue;
    }
    from_beginning_ = from_beginning_ && chunks->items.empty();
    if (chunks->at_tail) channel_->reached(chunks->next, chunks->closed, seen);
    cursor_ = chunks->next;
    if (chunks->items.empty()) {
      if (chunks->closed) return just(State::kEnd);
      // At the tail; or behind a fork's inherited chunks, with its own still to ask for.
      if (chunks->at_tail) return just(State::kWait);
      continue;
    }
    Take take = just(State::kBlock);
    take.at_tail = chunks->at_tail;
    take.block = std::make_shared<const Chunks>(std::move(*chunks));
    return take;
  }
}

void Subscription::arm(std::function<void()> ready) { channel_->arm(*this, std::move(ready)); }
void Subscription::disarm() { channel_->disarm(*this); }
void Subscription::stop() {
  stopped_ = true;
  channel_->wake(*this);
}

// --- Subscribing --------------------------------------------------------------------------------

Result<std::unique_ptr<Subscription>> StreamsCore::subscribe(const HandlePtr& handle,
                                                             const From& from,
                                                             const ReadLimits& limits) {
  if (auto used = note_use(handle); !used) return fail(std::move(used.error()));
  const auto cursor = resolve(handle, from);
  if (!cursor) return fail(cursor.error());
  std::shared_ptr<Channel> channel;
  {
    const std::lock_guard lock{handle->channel_mutex};
    channel = handle->channel.lock();
    if (!channel) {
      auto made = Channel::make(*this, *handle);
      if (!made) return fail(std::move(made.error()));
      channel = std::move(*made);
      handle->channel = channel;
    }
  }
  return std::make_unique<Subscription>(shared_from_this(), handle, std::move(channel), *cursor,
                                        from.kind() == From::Kind::kBeginning, limits);
}

Result<std::unique_ptr<Subscription>> subscribe(const Stream& stream, const From& from,
                                                const ReadLimits& limits) {
  return StreamAccess::core(stream)->subscribe(StreamAccess::handle(stream), from, limits);
}

}  // namespace holdfast::engine
