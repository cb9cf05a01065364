// All followers and all channels: who is there, heartbeats, and the list of streams as a channel.
// Loop thread only.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "http/channel.h"
#include "http/context.h"
#include "http/follower.h"

namespace holdfast::http {

class Hub {
  static constexpr std::size_t kUnusedChannelsMax = 1'024;

 public:
  explicit Hub(Context& context);
  ~Hub();

  /// The channel of a stream, made if it is not there.
  [[nodiscard]] std::shared_ptr<Channel> channel(const std::string& name, const OpenedPtr& opened);
  /// Takes a follower over and starts it.
  void add(std::shared_ptr<Follower> follower, std::string head);
  void forget(Follower& follower);

  /// Takes a follower of the list of streams in.
  void join_list(Member& member);
  [[nodiscard]] const FramePtr& list_frame() const { return list_frame_; }

  /// All followers get a goodbye.
  void stop();
  /// All are cut off.
  void close_all();
  [[nodiscard]] bool empty() const { return followers_.empty(); }
  /// Called when the last follower has gone.
  std::function<void()> on_empty;

 private:
  void sweep();
  void sweep_slice();
  void watch_list();
  void list_rung();
  void list_slice();

  Context& context_;
  std::vector<std::shared_ptr<Follower>> followers_;
  std::map<Ulid, std::shared_ptr<Channel>> channels_;
  std::size_t channels_look_at_ = kUnusedChannelsMax;  // look for unused ones beyond so many
  rt::Timer timer_;
  FramePtr heartbeat_;
  std::size_t sweep_at_ = 0;  // followers_[0, sweep_at_) are still to be swept

  MemberList list_members_;
  FramePtr list_frame_;
  Watch list_watch_;
  bool list_watching_ = false;
  std::shared_ptr<std::atomic<bool>> list_rung_ = std::make_shared<std::atomic<bool>>(false);
  std::shared_ptr<Hub*> self_;  // what posted calls hold: null once the hub is gone
};

}  // namespace holdfast::http
