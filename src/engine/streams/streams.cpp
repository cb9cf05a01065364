// The public face of streams: every call goes to the core.
#include <holdfast/stream.h>

#include <utility>

#include "engine/streams/core.h"
#include "engine/streams/follower.h"

namespace holdfast {

// --- Follower -----------------------------------------------------------------------------------

Follower::Follower(std::shared_ptr<engine::FollowerCore> core) : core_{std::move(core)} {}
Follower::Follower(Follower&&) noexcept = default;
Follower& Follower::operator=(Follower&&) noexcept = default;
Follower::~Follower() = default;

std::optional<Chunk> Follower::next() { return core_->next(std::nullopt); }
std::optional<Chunk> Follower::next_for(std::chrono::milliseconds wait) {
  return core_->next(engine::FollowerCore::Clock::now() + wait);
}
std::optional<Chunk> Follower::try_next() { return core_->try_next(); }
void Follower::async_wait(std::function<void()> ready) { core_->async_wait(std::move(ready)); }
void Follower::stop() { core_->stop(); }
bool Follower::ended() const { return core_->ended(); }
bool Follower::closed() const { return core_->closed(); }
const Error* Follower::error() const { return core_->error(); }
Offset Follower::cursor() const { return core_->cursor(); }

// --- Stream -------------------------------------------------------------------------------------

Stream::Stream(std::shared_ptr<engine::StreamsCore> core,
               std::shared_ptr<engine::StreamHandle> handle)
    : core_{std::move(core)}, handle_{std::move(handle)} {}

const std::string& Stream::name() const { return handle_->name; }
Result<StreamInfo> Stream::info() const { return core_->info(handle_); }
Result<LogState> Stream::tail() const {
  if (auto alive = core_->check_alive(handle_); !alive) return fail(std::move(alive.error()));
  return core_->tail(handle_);
}

Result<Appended> Stream::append(std::span<const BytesView> chunks, const AppendOptions& options) {
  return core_->append(handle_, chunks, options);
}
Result<Appended> Stream::append(BytesView chunk, const AppendOptions& options) {
  return core_->append(handle_, {&chunk, 1}, options);
}
void Stream::append_async(std::vector<Bytes> chunks, AppendOptions options,
                          std::function<void(Result<Appended>)> done) {
  core_->append_async(handle_, std::move(chunks), std::move(options), std::move(done));
}
Result<Appended> Stream::close() {
  AppendOptions options;
  options.close = true;
  return core_->append(handle_, {}, options);
}

Result<Chunks> Stream::read(const ReadOptions& options) const {
  return core_->read(handle_, options);
}
Result<Follower> Stream::follow(const FollowOptions& options) const {
  auto subscription = core_->subscribe(handle_, options.from, options.limits);
  if (!subscription) return fail(std::move(subscription.error()));
  return engine::StreamAccess::follower(
      std::make_shared<engine::FollowerCore>(std::move(*subscription)));
}
Result<Watch> Stream::watch(WatchCallback changed) const {
  return core_->store().watch(handle_->log, std::move(changed));
}

Result<void> Stream::trim(Offset before) { return core_->trim(handle_, before); }
Result<void> Stream::set_retention(const Retention& retention) {
  return core_->set_retention(handle_, retention);
}

// --- Streams ------------------------------------------------------------------------------------

Streams::Streams(Store& store, const Clock& clock, Random random)
    : core_{std::make_shared<engine::StreamsCore>(store, clock, random)} {}

Result<CreatedStream> Streams::create(std::string_view name, const StreamOptions& options) {
  auto made = core_->create(name, options);
  if (!made) return fail(std::move(made.error()));
  return CreatedStream{engine::StreamAccess::stream(core_, std::move(made->handle)), made->created};
}
Result<CreatedStream> Streams::fork(std::string_view source, std::string_view name,
                                    const ForkOptions& where, const StreamOptions& options) {
  auto made = core_->fork(source, name, where, options);
  if (!made) return fail(std::move(made.error()));
  return CreatedStream{engine::StreamAccess::stream(core_, std::move(made->handle)), made->created};
}
Result<Stream> Streams::open(std::string_view name) {
  auto handle = core_->open(name);
  if (!handle) return fail(std::move(handle.error()));
  return engine::StreamAccess::stream(core_, std::move(*handle));
}
Result<void> Streams::remove(std::string_view name) { return core_->remove(name); }
Result<StreamPage> Streams::list(std::string_view prefix, std::string_view after,
                                 std::size_t limit) {
  return core_->list(prefix, after, limit);
}
Result<Watch> Streams::watch_list(WatchCallback changed) {
  return core_->watch_list(std::move(changed));
}
Result<std::optional<Timestamp>> Streams::sweep() { return core_->sweep(); }

}  // namespace holdfast
