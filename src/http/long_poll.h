// A long-poll: a request that is answered when something comes, or when its time is over.
#pragma once

#include <memory>
#include <string>

#include "http/channel.h"
#include "http/connection.h"
#include "http/hub.h"

namespace holdfast::http {

/// How a long-poll begins: at the tail, with nothing to answer yet.
struct PollStart {
  OpenedPtr opened{};
  std::string name{};
  Offset cursor{};
  std::uint64_t client_interval = 0;
};

/// The answer to a read, catch-up or long-poll.
struct ReadAnswer {
  std::string_view content_type;
  Ulid id{};
  std::span<const Chunk> chunks{};
  Offset from{};
  Offset next{};
  bool at_tail = false;
  bool closed = false;
  bool folded = false;
  std::optional<std::uint64_t> interval{};  ///< for long-polls
  bool shared_cache = false;                ///< caches that many share may keep it
};
/// 200 with the chunks, or 304 if `if_none_match` names them.
[[nodiscard]] Response answer_read(const ReadAnswer& answer,
                                   std::optional<std::string_view> if_none_match);

class LongPoll final : public Waiter, public Member, public rt::Due {
 public:
  LongPoll(Context& context, Hub& hub, std::shared_ptr<Connection> connection, PollStart start);
  ~LongPoll() override;

  void begin();
  void stop() override { time_over(); }
  void due() override { time_over(); }
  void deliver(const Delivery& delivery) override;
  void fell_behind() override;
  void lost(const Error& error) override;

 private:
  void time_over();
  void answer(std::span<const Chunk> chunks, Offset next, bool at_tail, bool closed);
  void respond(Response response);

  Context& context_;
  Hub& hub_;
  std::weak_ptr<Connection> connection_;
  PollStart start_;
  std::shared_ptr<Channel> channel_;
  std::shared_ptr<LongPoll*> self_;  // what posted calls hold: null once this is gone
};

}  // namespace holdfast::http
