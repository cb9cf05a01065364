#include "http/channel.h"

#include <utility>

namespace holdfast::http {
namespace {

constexpr std::size_t kSlice = 512;
constexpr ReadLimits kReadLimits{.records_max = 8'192, .bytes_max = 256u << 10};

struct Wanted {
  bool protocol = false;
  bool events = false;
};

Result<std::shared_ptr<Delivery>> read_and_encode(const Opened& opened, Offset from, Wanted wanted,
                                                  Timestamp now) {
  auto chunks = opened.stream.read({.from = from, .limits = kReadLimits});
  if (!chunks) return fail(std::move(chunks.error()));
  if (chunks->closed && chunks->items.empty()) {
    // The log of a stream that was deleted while forks need it is closed, too: that is no end.
    if (auto info = opened.stream.info(); !info) return fail(std::move(info.error()));
  }
  auto delivery = std::make_shared<Delivery>();
  delivery->from = from;
  delivery->next = chunks->next;
  delivery->at_tail = chunks->at_tail;
  delivery->closed = chunks->closed;
  delivery->interval = cursor_interval(now, 0);
  delivery->chunks = std::move(*chunks);
  const Batch batch{.chunks = delivery->chunks.items,
                    .next = delivery->next,
                    .at_tail = delivery->at_tail,
                    .closed = delivery->closed,
                    .interval = delivery->interval};
  if (wanted.protocol) {
    delivery->protocol = encode_batch(Form::kProtocol, opened.content_type, batch);
  }
  if (wanted.events) delivery->events = encode_batch(Form::kEvents, opened.content_type, batch);
  return delivery;
}

}  // namespace

Member::~Member() { leave(); }

void Member::leave() {
  if (list_ != nullptr) list_->remove(*this);
}

MemberList::~MemberList() {
  while (first_ != nullptr) remove(*first_);
}

void MemberList::add(Member& member) {
  member.leave();
  member.list_ = this;
  member.previous_ = last_;
  member.next_ = nullptr;
  (last_ != nullptr ? last_->next_ : first_) = &member;
  last_ = &member;
  ++counts_[static_cast<std::size_t>(member.form())];
}

void MemberList::remove(Member& member) {
  --counts_[static_cast<std::size_t>(member.form())];
  if (at_ == &member) at_ = member.next_;
  (member.previous_ != nullptr ? member.previous_->next_ : first_) = member.next_;
  (member.next_ != nullptr ? member.next_->previous_ : last_) = member.previous_;
  member.list_ = nullptr;
  member.previous_ = nullptr;
  member.next_ = nullptr;
}

Member* MemberList::next() {
  Member* const member = at_;
  if (at_ != nullptr) at_ = at_->next_;
  return member;
}

Channel::Channel(Context& context, std::string name, OpenedPtr opened)
    : context_{context}, name_{std::move(name)}, opened_{std::move(opened)} {
  ++context_.metrics.channels;
}

Channel::~Channel() {
  --context_.metrics.channels;
  if (watch_) {
    // Ending a watch may wait for its callback.
    context_.workers.submit_urgent([watch = std::move(watch_)]() mutable { watch = Watch{}; });
  }
}

void Channel::join(Member& member) {
  if (live_ && member.cursor < cursor_) return member.fell_behind();
  members_.add(member);
  if (!live_ && !std::exchange(busy_, true)) arm();
}

void Channel::arm() {
  std::weak_ptr<Channel> weak = weak_from_this();
  rt::Loop& loop = context_.loop;
  context_.workers.submit_urgent([self = shared_from_this(), weak, &loop]() mutable {
    const Stream& stream = self->opened_->stream;
    auto watch = stream.watch([weak, &loop, rung = self->rung_] {
      if (rung->exchange(true)) return;
      loop.post([weak] {
        if (const auto alive = weak.lock()) alive->changed();
      });
    });
    Result<LogState> state =
        watch ? stream.tail() : Result<LogState>{fail(std::move(watch.error()))};
    Watch held = watch ? std::move(*watch) : Watch{};
    loop.post([self = std::move(self), state = std::move(state), held = std::move(held)]() mutable {
      self->armed(std::move(state), std::move(held));
    });
  });
}

void Channel::armed(Result<LogState> state, Watch watch) {
  watch_ = std::move(watch);
  busy_ = false;
  if (!state) return lose_all(state.error());
  live_ = true;
  cursor_ = state->tail;
  const bool closed = state->closed;
  members_.start_round();
  while (Member* const member = members_.next()) {
    if (member->cursor < cursor_ || closed) {
      member->leave();
      member->fell_behind();
    }
  }
  if (dirty_) read();
}

void Channel::changed() {
  rung_->store(false);
  if (busy_ || !live_) {
    dirty_ = true;
    return;
  }
  read();
}

void Channel::read() {
  dirty_ = false;
  if (members_.empty()) {
    // Nobody to read for, and where the tail is now is not known: the next member begins anew.
    live_ = false;
    dead_ = true;
    return;
  }
  busy_ = true;
  ++context_.metrics.channel_reads;
  const Timestamp now = context_.clock.now();
  const Wanted wanted{.protocol = members_.has(Form::kProtocol),
                      .events = members_.has(Form::kEvents)};
  context_.workers.submit_urgent(
      [self = shared_from_this(), from = cursor_, wanted, now]() mutable {
        auto result = read_and_encode(*self->opened_, from, wanted, now);
        rt::Loop& loop = self->context_.loop;
        loop.post([self = std::move(self), result = std::move(result)]() mutable {
          self->received(std::move(result));
        });
      });
}

void Channel::received(Result<std::shared_ptr<Delivery>> result) {
  if (!result) {
    busy_ = false;
    return lose_all(result.error());
  }
  delivery_ = std::move(*result);
  cursor_ = delivery_->next;
  if (!delivery_->at_tail) dirty_ = true;
  members_.start_round();
  serve_slice();
}

void Channel::serve_slice() {
  const bool nothing = delivery_->from == delivery_->next && !delivery_->closed;
  for (std::size_t served = 0; served < kSlice && !nothing; ++served) {
    Member* const member = members_.next();
    if (member == nullptr) break;
    if (member->cursor <= delivery_->next) member->deliver(*delivery_);
    if (served + 1 == kSlice) {
      context_.loop.post([self = shared_from_this()] { self->serve_slice(); });
      return;
    }
  }
  delivery_.reset();
  busy_ = false;
  if (dirty_) read();
}

void Channel::lose_all(const Error& error) {
  dead_ = true;
  live_ = false;
  members_.start_round();
  while (Member* const member = members_.next()) {
    member->leave();
    member->lost(error);
  }
}

}  // namespace holdfast::http
