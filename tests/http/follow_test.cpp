// Following over HTTP: server-sent events, long-polls, many at once, slow ones, stopping.
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "http/http_client.h"

namespace holdfast::http_testing {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

std::string token(std::uint64_t offset) { return fmt::format("0000000000000000_{:016}", offset); }

/// Asks for events and expects that they begin.
void follow(Client& client, std::string_view target, std::string_view headers = {}) {
  client.request("GET", target, headers);
  const Answer answer = client.events_head();
  EXPECT_EQ(answer.status, 200) << answer.body;
}

TEST(HttpEvents, GiveEachChunkItsCursorThenSayCaughtUpAndEnd) {
  Running running;
  Stream stream = running.make("a");
  ASSERT_TRUE(stream.append("one"));
  ASSERT_TRUE(stream.append("two\nlines"));
  Client client{running.port()};
  follow(client, "/v1/stream/a?live=events");
  auto event = client.next();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->data, "one");
  EXPECT_EQ(event->id, token(1));
  EXPECT_EQ(client.next()->data, "two\nlines");
  event = client.next();
  EXPECT_EQ(event->name, "caught-up");
  EXPECT_EQ(json::parse(event->data)["cursor"], token(2));
  ASSERT_TRUE(stream.append("three"));
  event = client.next();
  EXPECT_EQ(event->name, "message");
  EXPECT_EQ(event->data, "three");
  EXPECT_EQ(event->id, token(3));
  ASSERT_TRUE(stream.append("last", {.close = true}));
  EXPECT_EQ(client.next()->data, "last");
  event = client.next();
  EXPECT_EQ(event->name, "end");
  EXPECT_EQ(json::parse(event->data)["cursor"], token(4));
  EXPECT_FALSE(client.next());
  EXPECT_TRUE(client.clean_end());
  EXPECT_TRUE(client.closed());
}

TEST(HttpEvents, SpeakTheProtocolAsWell) {
  Running running;
  Stream stream = running.make("a", "application/json");
  ASSERT_TRUE(stream.append("1"));
  Client client{running.port()};
  follow(client, "/v1/stream/a?live=sse&offset=-1");
  EXPECT_EQ(client.next()->data, "[1]");
  const json control = json::parse(client.next()->data);
  EXPECT_EQ(control["streamNextOffset"], token(1));
  EXPECT_EQ(control["upToDate"], true);
  ASSERT_TRUE(stream.append("{}"));
  EXPECT_EQ(client.next()->data, "[{}]");
  EXPECT_EQ(json::parse(client.next()->data)["streamNextOffset"], token(2));
  ASSERT_TRUE(stream.close());
  EXPECT_EQ(json::parse(client.next()->data)["streamClosed"], true);
  EXPECT_FALSE(client.next());
  EXPECT_TRUE(client.clean_end());
}

TEST(HttpEvents, S7_LastEventIdAndAnOffsetResumeIdentically) {
  Running running;
  Stream stream = running.make("a");
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(stream.append(fmt::format("chunk {}", i)));
  ASSERT_TRUE(stream.close());
  const auto rest = [&](std::string_view target, std::string_view headers) {
    Client client{running.port()};
    follow(client, target, headers);
    std::string all;
    while (auto event = client.next()) all += event->name + event->id + event->data + "\n";
    EXPECT_TRUE(client.clean_end());
    return all;
  };
  for (std::uint64_t at = 0; at <= 20; ++at) {
    const std::string by_offset = rest("/v1/stream/a?live=events&offset=" + token(at), "");
    const std::string by_id =
        rest("/v1/stream/a?live=events&offset=-1", "Last-Event-ID: " + token(at) + "\r\n");
    EXPECT_EQ(by_offset, by_id) << at;
    EXPECT_EQ(std::ranges::count(by_offset, '\n'), static_cast<std::ptrdiff_t>(20 - at + 2)) << at;
  }
}

TEST(HttpEvents, S8_SilenceHasHeartbeatsAndAnEndIsToldApartFromADrop) {
  Running running{{.heartbeat = 30ms}};
  Stream stream = running.make("a");
  ASSERT_TRUE(stream.append("one"));
  Client client{running.port()};
  follow(client, "/v1/stream/a?live=events&offset=" + token(1));
  EXPECT_EQ(client.next()->name, "caught-up");
  for (int beats = 0; beats < 10;) {
    const auto event = client.event();
    ASSERT_TRUE(event);
    ASSERT_TRUE(event->comment) << "a heartbeat moves no cursor";
    EXPECT_TRUE(event->id.empty());
    ++beats;
  }
  ASSERT_TRUE(stream.append("two"));
  auto event = client.next();
  EXPECT_EQ(event->data, "two");
  EXPECT_EQ(event->id, token(2));
  ASSERT_TRUE(stream.close());
  EXPECT_EQ(client.next()->name, "end");
  EXPECT_FALSE(client.next());
  EXPECT_TRUE(client.clean_end());

  running.make("b");
  Client dropped{running.port()};
  follow(dropped, "/v1/stream/b?live=events");
  EXPECT_EQ(dropped.next()->name, "caught-up");
  ::shutdown(dropped.fd(), SHUT_RD);
  while (dropped.event()) {
  }
  EXPECT_FALSE(dropped.clean_end());
}

TEST(HttpEvents, BeginWhereTheyAreAskedTo) {
  Running running;
  Stream stream = running.make("a");
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(stream.append(fmt::format("{}", i)));
  const auto first = [&](std::string_view query) {
    Client client{running.port()};
    follow(client, fmt::format("/v1/stream/a?live=events{}", query));
    return client.next()->data;
  };
  EXPECT_EQ(first(""), "0");
  EXPECT_EQ(first("&offset=-1"), "0");
  EXPECT_EQ(first("&offset=" + token(3)), "3");
  EXPECT_EQ(first("&last=2"), "3");
  EXPECT_EQ(first("&last=99"), "0");
  EXPECT_EQ(json::parse(first("&last=0"))["cursor"], token(5));
  EXPECT_EQ(json::parse(first("&offset=now"))["cursor"], token(5));
  for (const char* query : {"&offset=", "&offset=x", "&last=x", "&last=1&offset=-1", "&fold=2"}) {
    EXPECT_EQ(running.ask("GET", fmt::format("/v1/stream/a?live=events{}", query)).status, 400)
        << query;
  }
  EXPECT_EQ(running.ask("GET", "/v1/stream/a?live=events&offset=" + token(6)).status, 400);
  EXPECT_EQ(running.ask("GET", "/v1/stream/none?live=events").status, 404);
}

TEST(HttpEvents, FoldTheCatchUpPartAlone) {
  Running running;
  Stream stream = running.make("a", "application/json");
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(stream.append(fmt::format(R"({{"type":"text","delta":"{}"}})", i % 10)));
  }
  Client client{running.port()};
  follow(client, "/v1/stream/a?live=events&fold=1");
  auto event = client.next();
  EXPECT_EQ(json::parse(event->data)["delta"].get<std::string>().size(), 100u);
  EXPECT_EQ(event->id, token(100));
  EXPECT_EQ(client.next()->name, "caught-up");
  ASSERT_TRUE(stream.append(R"({"type":"text","delta":"x"})"));
  ASSERT_TRUE(stream.append(R"({"type":"text","delta":"y"})"));
  EXPECT_EQ(json::parse(client.next()->data)["delta"], "x");
  EXPECT_EQ(json::parse(client.next()->data)["delta"], "y");
  EXPECT_EQ(json::parse(running.ask("GET", "/v1/stream/a?fold=1").body).size(), 1u);
}

TEST(HttpEvents, EndWithTheAnswerForOldClients) {
  Running running;
  Stream stream = running.make("a");
  ASSERT_TRUE(stream.append("one", {.close = true}));
  Client client{running.port()};
  client.send("GET /v1/stream/a?live=events HTTP/1.0\r\n\r\n");
  const Answer answer = client.events_head();
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.header("transfer-encoding"), "");
  EXPECT_EQ(client.next()->data, "one");
  EXPECT_EQ(client.next()->name, "caught-up");
  EXPECT_EQ(client.next()->name, "end");
  EXPECT_FALSE(client.next());
}

TEST(HttpEvents, TellWhenStreamsAreMadeOrDeleted) {
  Running running;
  Client client{running.port()};
  follow(client, "/v1/streams?live=events");
  EXPECT_EQ(client.next()->name, "changed");
  EXPECT_EQ(client.next()->name, "changed") << "once more when the watch is set";
  running.make("a");
  EXPECT_EQ(client.next()->name, "changed");
  ASSERT_TRUE(running.streams.remove("a"));
  EXPECT_EQ(client.next()->name, "changed");
}

TEST(HttpEvents, SayWhenTheStreamIsDeleted) {
  Running running;
  running.make("a");
  Client client{running.port()};
  follow(client, "/v1/stream/a?live=events");
  EXPECT_EQ(client.next()->name, "caught-up");
  ASSERT_TRUE(running.streams.remove("a"));
  const auto event = client.next();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->name, "error");
  EXPECT_EQ(json::parse(event->data)["error"]["code"], "not_found");
  EXPECT_FALSE(client.next());
  EXPECT_TRUE(client.clean_end());
}

TEST(HttpEvents, S6_ReadsJoinedAcrossReconnectsEqualOneFullRead) {
  Running running;
  Stream stream = running.make("a");
  std::string written;
  std::thread writer{[&] {
    for (int i = 0; i < 3'000; ++i) {
      const std::string chunk = fmt::format("<{}>", i);
      ASSERT_TRUE(stream.append(chunk));
      written += chunk;
    }
    ASSERT_TRUE(stream.close());
  }};
  std::string read;
  std::string cursor = "-1";
  bool ended = false;
  for (int round = 0; !ended; ++round) {
    Client client{running.port()};
    follow(client, "/v1/stream/a?live=events&offset=" + cursor);
    for (int events = 0; events < 7 + round * 13; ++events) {
      const auto event = client.next();
      ASSERT_TRUE(event);
      ended = event->name == "end";
      if (ended) break;
      if (event->name == "message") read += event->data;
      cursor = event->id;
    }
  }
  writer.join();
  EXPECT_EQ(read, written);
}

TEST(HttpEvents, S5_AThousandFollowersCostOneReadPerAppend) {
  constexpr std::size_t kFollowers = 1'000;
  constexpr std::uint64_t kAppends = 20;
  Running running;
  Stream stream = running.make("a");
  ASSERT_TRUE(stream.append("behind"));
  std::deque<Client> clients;
  for (std::size_t i = 0; i < kFollowers; ++i) {
    follow(clients.emplace_back(running.port()), "/v1/stream/a?live=events&last=0");
    ASSERT_EQ(clients.back().next()->name, "caught-up");
  }
  ASSERT_EQ(running.metric("holdfast_followers"), kFollowers);
  const std::uint64_t reads_before = running.store->stats().reads;
  for (std::uint64_t i = 0; i < kAppends; ++i) {
    const std::string chunk = fmt::format("chunk {}", i);
    ASSERT_TRUE(stream.append(chunk));
    for (Client& client : clients) ASSERT_EQ(client.next()->data, chunk);
  }
  EXPECT_EQ(running.store->stats().reads - reads_before, kAppends);
}

TEST(HttpEvents, S9_ASlowFollowerHoldsABoundedQueueAndDelaysNobody) {
  Running running{{.follower_queue_bytes_max = 64u << 10}};
  Stream stream = running.make("a");
  Client slow{running.port(), 4'096};
  follow(slow, "/v1/stream/a?live=events");
  ASSERT_EQ(slow.next()->name, "caught-up");
  Client fast{running.port()};
  follow(fast, "/v1/stream/a?live=events");
  ASSERT_EQ(fast.next()->name, "caught-up");
  constexpr int kChunks = 400;
  const std::string filling(32u << 10, 'x');
  for (int i = 0; i < kChunks; ++i) {
    ASSERT_TRUE(stream.append(fmt::format("{} {}", i, filling)));
    const auto event = fast.next();
    ASSERT_TRUE(event);
    ASSERT_EQ(event->id, token(static_cast<std::uint64_t>(i) + 1));
  }
  EXPECT_GE(running.metric("holdfast_followers_fell_behind_total"), 1u);
  for (int i = 0; i < kChunks; ++i) {
    const auto event = slow.next();
    ASSERT_TRUE(event);
    ASSERT_EQ(event->id, token(static_cast<std::uint64_t>(i) + 1));
    ASSERT_EQ(event->data.size(), filling.size() + fmt::format("{} ", i).size());
  }
}

TEST(HttpEvents, S9_AFollowerThatTakesNothingIsCutOff) {
  Running running{{.heartbeat = 20ms, .write_timeout = 100ms}};
  Stream stream = running.make("a");
  Client stuck{running.port(), 4'096};
  follow(stuck, "/v1/stream/a?live=events");
  const std::string filling(1u << 20, 'x');
  for (int i = 0; i < 12; ++i) ASSERT_TRUE(stream.append(filling));
  EXPECT_TRUE(running.metric_becomes("holdfast_followers_dropped_total", 1));
  EXPECT_TRUE(running.metric_becomes("holdfast_followers", 0));
}

TEST(HttpEvents, S10_NothingIsLostOrDoubledBetweenCatchingUpAndLive) {
  Running running;
  Stream stream = running.make("a");
  std::atomic<bool> done{false};
  std::thread writer{[&] {
    while (!done) ASSERT_TRUE(stream.append("x"));
  }};
  for (int round = 0; round < 60; ++round) {
    Client client{running.port()};
    follow(client, "/v1/stream/a?live=events&last=3");
    std::uint64_t before = 0;
    for (int events = 0; events < 40;) {
      const auto event = client.next();
      ASSERT_TRUE(event);
      if (event->name != "message") continue;
      ++events;
      const std::uint64_t at = std::stoull(event->id.substr(17));
      if (before != 0) {
        ASSERT_EQ(at, before + 1);
      }
      before = at;
    }
  }
  done = true;
  writer.join();
}

TEST(HttpEvents, S1_IdleFollowersMakeNoWakeUps) {
  Running running;
  running.make("a");
  std::deque<Client> clients;
  for (int i = 0; i < 200; ++i) {
    follow(clients.emplace_back(running.port()), "/v1/stream/a?live=events");
    ASSERT_EQ(clients.back().next()->name, "caught-up");
  }
  const std::uint64_t reads = running.store->stats().reads;
  const std::uint64_t before = running.metric("holdfast_loop_wakeups_total");
  std::this_thread::sleep_for(500ms);
  // The two requests for the figure wake the loop a few times themselves.
  EXPECT_LE(running.metric("holdfast_loop_wakeups_total") - before, 16u);
  EXPECT_EQ(running.store->stats().reads, reads);
}

TEST(HttpEvents, AFollowerThatLeavesIsForgotten) {
  Running running;
  running.make("a");
  {
    Client client{running.port()};
    follow(client, "/v1/stream/a?live=events");
    ASSERT_EQ(client.next()->name, "caught-up");
    EXPECT_EQ(running.metric("holdfast_followers"), 1u);
  }
  EXPECT_TRUE(running.metric_becomes("holdfast_followers", 0));
  EXPECT_TRUE(running.metric_becomes("holdfast_connections", 1)) << "the one that asks";
}

TEST(HttpLongPoll, AnswersWithWhatComesAndWithNothingWhenTheTimeIsOver) {
  Running running{{.long_poll_wait = 200ms}};
  Stream stream = running.make("a");
  ASSERT_TRUE(stream.append("old"));
  Client client{running.port()};
  client.request("GET", "/v1/stream/a?live=long-poll&offset=" + token(1));
  ASSERT_TRUE(running.metric_becomes("holdfast_long_polls", 1));
  ASSERT_TRUE(stream.append("new"));
  Answer answer = client.answer();
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "new");
  EXPECT_EQ(answer.header("stream-next-offset"), token(2));
  answer = client.ask("GET", "/v1/stream/a?live=long-poll&offset=" + token(2));
  EXPECT_EQ(answer.status, 204);
  EXPECT_EQ(answer.header("stream-up-to-date"), "true");
  client.request("GET", "/v1/stream/a?live=long-poll&offset=now");
  ASSERT_TRUE(running.metric_becomes("holdfast_long_polls", 1));
  ASSERT_TRUE(stream.close());
  answer = client.answer();
  EXPECT_EQ(answer.status, 204);
  EXPECT_EQ(answer.header("stream-closed"), "true");
}

TEST(HttpLongPoll, OneThatIsAbandonedIsForgotten) {
  Running running;
  Stream stream = running.make("a");
  {
    Client client{running.port()};
    client.request("GET", "/v1/stream/a?live=long-poll&offset=now");
    ASSERT_TRUE(running.metric_becomes("holdfast_long_polls", 1));
  }
  EXPECT_TRUE(running.metric_becomes("holdfast_long_polls", 0));
  ASSERT_TRUE(stream.append("nobody waits"));
  EXPECT_EQ(running.ask("GET", "/v1/stream/a").body, "nobody waits");
}

TEST(HttpLongPoll, ManyAreServedByOneRead) {
  Running running;
  Stream stream = running.make("a", "application/json");
  std::deque<Client> clients;
  for (int i = 0; i < 50; ++i) {
    clients.emplace_back(running.port())
        .request("GET", "/v1/stream/a?live=long-poll&offset=" + token(0));
  }
  ASSERT_TRUE(running.metric_becomes("holdfast_long_polls", 50));
  const std::uint64_t reads = running.store->stats().reads;
  ASSERT_TRUE(stream.append("1"));
  for (Client& client : clients) EXPECT_EQ(client.answer().body, "[1]");
  EXPECT_EQ(running.store->stats().reads - reads, 1u);
}

TEST(HttpStop, SaysGoodbyeToFollowersAnswersLongPollsAndEnds) {
  Running running;
  Stream stream = running.make("a");
  ASSERT_TRUE(stream.append("one"));
  Client events{running.port()};
  follow(events, "/v1/stream/a?live=events");
  EXPECT_EQ(events.next()->data, "one");
  EXPECT_EQ(events.next()->name, "caught-up");
  Client protocol{running.port()};
  follow(protocol, "/v1/stream/a?live=sse&offset=now");
  EXPECT_EQ(protocol.next()->name, "control");
  Client list{running.port()};
  follow(list, "/v1/streams?live=events");
  Client poll{running.port()};
  poll.request("GET", "/v1/stream/a?live=long-poll&offset=now");
  ASSERT_TRUE(running.metric_becomes("holdfast_long_polls", 1));
  Client idle{running.port()};
  EXPECT_EQ(idle.ask("GET", "/healthz").status, 200);

  const auto began = std::chrono::steady_clock::now();
  running.stop();
  const auto event = events.next();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->name, "goodbye");
  EXPECT_EQ(json::parse(event->data)["cursor"], token(1));
  EXPECT_FALSE(events.next());
  EXPECT_TRUE(events.clean_end());
  EXPECT_EQ(protocol.next()->name, "goodbye");
  EXPECT_FALSE(protocol.next());
  EXPECT_TRUE(protocol.clean_end());
  std::string last;
  while (auto each = list.next()) last = each->name;
  EXPECT_EQ(last, "goodbye");
  const Answer answer = poll.answer();
  EXPECT_EQ(answer.status, 204);
  EXPECT_EQ(answer.header("connection"), "close");
  EXPECT_TRUE(idle.closed());
  running.join();
  EXPECT_LT(std::chrono::steady_clock::now() - began, 4s);
}

TEST(HttpStop, CutsOffThoseWhoDoNotLeave) {
  Running running{{.stop_timeout = 200ms}};
  Stream stream = running.make("a");
  Client stuck{running.port(), 4'096};
  follow(stuck, "/v1/stream/a?live=events");
  const std::string filling(1u << 20, 'x');
  for (int i = 0; i < 12; ++i) ASSERT_TRUE(stream.append(filling));
  ASSERT_TRUE(running.metric_becomes("holdfast_followers_fell_behind_total", 1));
  running.stop();
  running.join();
  while (stuck.event()) {
  }
  EXPECT_FALSE(stuck.clean_end());
}

}  // namespace
}  // namespace holdfast::http_testing
