#include "http/hub.h"

#include <algorithm>
#include <utility>

namespace holdfast::http {
namespace {

constexpr std::size_t kSlice = 512;

FramePtr make_heartbeat() {
  FrameBuilder frame;
  frame.raw(":\n\n");
  return frame.finish();
}

FramePtr make_changed() {
  FrameBuilder frame;
  frame.event("changed");
  frame.data("{}");
  frame.end_event();
  return frame.finish();
}

}  // namespace

Hub::Hub(Context& context)
    : context_{context},
      timer_{context.loop, [this] { sweep(); }},
      heartbeat_{make_heartbeat()},
      list_frame_{make_changed()},
      self_{std::make_shared<Hub*>(this)} {}

Hub::~Hub() {
  close_all();
  *self_ = nullptr;
}

std::shared_ptr<Channel> Hub::channel(const std::string& name, const OpenedPtr& opened) {
  if (!timer_.armed()) timer_.arm(rt::Loop::now() + context_.options.heartbeat);
  std::shared_ptr<Channel>& slot = channels_[opened->id];
  if (!slot || slot->dead()) slot = std::make_shared<Channel>(context_, name, opened);
  const std::shared_ptr<Channel> found = slot;
  if (channels_.size() > channels_look_at_) {
    std::erase_if(channels_, [&found](const auto& entry) {
      return entry.second != found && entry.second->unused();
    });
    channels_look_at_ = std::max(kUnusedChannelsMax, 2 * channels_.size());
  }
  return found;
}

void Hub::add(std::shared_ptr<Follower> follower, std::string head) {
  if (!timer_.armed()) timer_.arm(rt::Loop::now() + context_.options.heartbeat);
  follower->hub_index = followers_.size();
  followers_.push_back(follower);
  follower->start(std::move(head));
  if (context_.stopping) follower->stop();
}

void Hub::forget(Follower& follower) {
  const std::size_t index = follower.hub_index;
  if (index >= followers_.size() || followers_[index].get() != &follower) return;
  // It may be in the middle of a call: it goes when that has returned.
  context_.loop.post([gone = std::move(followers_[index])] {});
  if (index + 1 < followers_.size()) {
    followers_[index] = std::move(followers_.back());
    followers_[index]->hub_index = index;
  }
  followers_.pop_back();
  if (followers_.empty() && on_empty) on_empty();
}

void Hub::sweep() {
  std::erase_if(channels_,
                [](const auto& entry) { return entry.second->unused() || entry.second->dead(); });
  if (followers_.empty() && channels_.empty()) return;
  timer_.arm(rt::Loop::now() + context_.options.heartbeat);
  const bool under_way = sweep_at_ > 0;
  sweep_at_ = followers_.size();
  if (!under_way) sweep_slice();
}

// From the back: one that leaves is replaced by the last, which was swept already, so none is left
// out. Slices keep the loop free for appends in between.
void Hub::sweep_slice() {
  sweep_at_ = std::min(sweep_at_, followers_.size());
  const std::size_t end = sweep_at_ > kSlice ? sweep_at_ - kSlice : 0;
  while (sweep_at_ > end) {
    --sweep_at_;
    if (sweep_at_ < followers_.size()) {
      const std::shared_ptr<Follower> follower = followers_[sweep_at_];
      follower->heartbeat(heartbeat_);
    }
  }
  if (sweep_at_ == 0) return;
  context_.loop.post([self = self_] {
    if (*self != nullptr) (*self)->sweep_slice();
  });
}

void Hub::join_list(Member& member) {
  list_members_.add(member);
  if (!std::exchange(list_watching_, true)) watch_list();
}

void Hub::watch_list() {
  rt::Loop& loop = context_.loop;
  Streams& streams = context_.streams;
  context_.workers.submit_urgent([self = self_, rung = list_rung_, &loop, &streams] {
    auto watch = streams.watch_list([self, rung, &loop] {
      if (rung->exchange(true)) return;
      loop.post([self] {
        if (*self != nullptr) (*self)->list_rung();
      });
    });
    loop.post([self, watch = std::move(watch)]() mutable {
      if (*self == nullptr) return;
      if (watch) {
        (*self)->list_watch_ = std::move(*watch);
      } else {
        (*self)->list_watching_ = false;
      }
      // Whoever joined before the watch was armed may have missed a change.
      (*self)->list_rung();
    });
  });
}

void Hub::list_rung() {
  list_rung_->store(false);
  list_members_.start_round();
  list_slice();
}

void Hub::list_slice() {
  for (std::size_t served = 0; served < kSlice; ++served) {
    Member* const member = list_members_.next();
    if (member == nullptr) return;
    static_cast<Follower*>(member)->list_changed(list_frame_);
  }
  context_.loop.post([self = self_] {
    if (*self != nullptr) (*self)->list_slice();
  });
}

void Hub::stop() {
  for (const auto& follower : std::vector{followers_}) follower->stop();
}

void Hub::close_all() {
  for (const auto& follower : std::vector{followers_}) follower->close();
  channels_.clear();
}

}  // namespace holdfast::http
