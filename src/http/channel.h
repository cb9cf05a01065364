// One stream that many wait on: it is watched once and read once for all of them.
//
//   changed -> one read [cursor, next) on a worker -> encoded once per form -> every member
//
// Invariants
//   - A member has all before its own cursor. One at the channel's cursor gets shared frames; one
//     further on (it read by itself while the channel's read was under way) gets the rest of them.
//   - At most one read is under way; changes meanwhile make one more read when it was delivered.
//   - Large audiences are served in slices, so that the loop stays free for others between them.
//   - Idle, it costs nothing.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "http/context.h"
#include "http/sse.h"
#include "http/stream_cache.h"

namespace holdfast::http {

/// What one read brought. Shared, immutable.
struct Delivery {
  Chunks chunks{};
  Offset from{};
  Offset next{};
  bool at_tail = false;
  bool closed = false;
  std::uint64_t interval = 0;
  FramePtr protocol{};
  FramePtr events{};
};

class MemberList;

/// One that waits. Leaves its list when destroyed. Loop thread only.
class Member {
 public:
  explicit Member(Form form) : form_{form} {}
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;
  virtual ~Member();

  [[nodiscard]] bool joined() const { return list_ != nullptr; }
  void leave();

  /// The channel went on from `from`, at or before the member's cursor. May leave or destroy it.
  virtual void deliver(const Delivery& delivery) = 0;
  /// The channel is past the member's cursor, and the member is out: it must read up and join
  /// again.
  virtual void fell_behind() = 0;
  /// The stream is gone or cannot be read, and the member is out.
  virtual void lost(const Error& error) = 0;
  [[nodiscard]] Form form() const { return form_; }

  Offset cursor{};

 private:
  friend class MemberList;
  MemberList* list_ = nullptr;
  Member* previous_ = nullptr;
  Member* next_ = nullptr;
  const Form form_;
};

/// Members in the order in which they joined; any may leave while others are visited.
class MemberList {
 public:
  ~MemberList();
  void add(Member& member);
  void remove(Member& member);
  [[nodiscard]] bool empty() const { return first_ == nullptr; }
  [[nodiscard]] bool has(Form form) const { return counts_[static_cast<std::size_t>(form)] > 0; }
  /// Begins a round over all members.
  void start_round() { at_ = first_; }
  /// The next of the round; null at its end.
  Member* next();

 private:
  Member* first_ = nullptr;
  Member* last_ = nullptr;
  Member* at_ = nullptr;
  std::array<std::size_t, 4> counts_{};
};

class Channel : public std::enable_shared_from_this<Channel> {
 public:
  Channel(Context& context, std::string name, OpenedPtr opened);
  ~Channel();

  /// Takes a member in. It may be told at once that it fell behind or is lost.
  void join(Member& member);
  [[nodiscard]] bool unused() const { return members_.empty(); }
  [[nodiscard]] bool dead() const { return dead_; }
  [[nodiscard]] const OpenedPtr& opened() const { return opened_; }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  void arm();
  void armed(Result<LogState> state, Watch watch);
  void changed();
  void read();
  void received(Result<std::shared_ptr<Delivery>> result);
  void serve_slice();
  void lose_all(const Error& error);

  Context& context_;
  const std::string name_;
  const OpenedPtr opened_;
  Watch watch_;
  // Set by the watch, whose callback may outlast the channel.
  std::shared_ptr<std::atomic<bool>> rung_ = std::make_shared<std::atomic<bool>>(false);
  MemberList members_;
  Offset cursor_{};
  bool live_ = false;   // armed: cursor_ holds
  bool busy_ = false;   // a read or its delivery is under way
  bool dirty_ = false;  // something changed since the read began
  bool dead_ = false;
  std::shared_ptr<Delivery> delivery_;
};

}  // namespace holdfast::http
