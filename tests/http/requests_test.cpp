// Requests and connections: what is answered, refused, limited, logged.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "http/http_client.h"

namespace holdfast::http_testing {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

TEST(HttpRoutes, AnswerHealthMetricsAndWhatIsNotThere) {
  Running running;
  EXPECT_EQ(running.ask("GET", "/healthz").body, R"({"status":"ok"})");
  const Answer missing = running.ask("GET", "/nothing");
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(json::parse(missing.body)["error"]["code"], "not_found");
  const Answer wrong = running.ask("DELETE", "/healthz");
  EXPECT_EQ(wrong.status, 405);
  EXPECT_EQ(wrong.header("allow"), "GET, HEAD");
  running.make("a");
  running.ask("POST", "/v1/stream/a", "Content-Type: text/plain\r\n", "hello");
  EXPECT_EQ(running.metric("holdfast_appends_total"), 1u);
  EXPECT_EQ(running.metric("holdfast_append_bytes_total"), 5u);
  EXPECT_EQ(running.metric(
                "holdfast_http_requests_total{route=\"stream\",method=\"POST\",status=\"204\"}"),
            1u);
  EXPECT_GE(running.metric("process_resident_memory_bytes"), 1'000'000u);
  EXPECT_GE(running.metric("holdfast_store_commits_total"), 2u);
}

TEST(HttpRoutes, ServeThePageWithTagsAndAStrictPolicy) {
  Running running;
  const Answer page = running.ask("GET", "/");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.header("content-type"), "text/html; charset=utf-8");
  EXPECT_EQ(page.header("x-content-type-options"), "nosniff");
  EXPECT_NE(page.header("content-security-policy").find("default-src 'none'"), std::string::npos);
  EXPECT_NE(page.body.find("<!doctype html>"), std::string::npos);
  const std::string tag = page.header("etag");
  const Answer again = running.ask("GET", "/", "If-None-Match: " + tag + "\r\n");
  EXPECT_EQ(again.status, 304);
  EXPECT_TRUE(again.body.empty());
  EXPECT_EQ(running.ask("GET", "/assets/app.js").header("content-type"),
            "text/javascript; charset=utf-8");
  EXPECT_EQ(running.ask("HEAD", "/assets/app.js").status, 200);
  for (const char* path : {"/assets/", "/assets/../index.html", "/assets/%2e%2e/index.html",
                           "/index.html", "/assets/nothing.js"}) {
    EXPECT_EQ(running.ask("GET", path).status, 404) << path;
  }
}

TEST(HttpStreams, E5_NamesThatCouldLeaveTheirPlaceAreRefused) {
  Running running;
  const std::array<std::string, 13> bad{"/v1/stream/",
                                        "/v1/stream/..",
                                        "/v1/stream/a/../b",
                                        "/v1/stream/%2e%2e/b",
                                        "/v1/stream/a//b",
                                        "/v1/stream/a/",
                                        "/v1/stream/%",
                                        "/v1/stream/%zz",
                                        "/v1/stream/a%00b",
                                        "/v1/stream/a%0ab",
                                        "/v1/stream/%ff",
                                        "/v1/stream/%c0%af",
                                        "/v1/stream/" + std::string(513, 'x')};
  for (const std::string& path : bad) {
    for (const char* method : {"PUT", "GET", "HEAD", "POST", "DELETE"}) {
      const Answer answer = running.ask(method, path);
      EXPECT_EQ(answer.status, 400) << method << " " << path;
    }
  }
  EXPECT_EQ(json::parse(running.ask("GET", "/v1/streams").body)["streams"].size(), 0u);
  EXPECT_EQ(running.ask("PUT", "/v1/stream/a%2Fb").status, 201);
  EXPECT_EQ(running.ask("GET", "/v1/stream/a/b").status, 200);
  const Answer fork = running.ask("PUT", "/v1/stream/fork", "Stream-Forked-From: /etc/passwd\r\n");
  EXPECT_EQ(fork.status, 400);
}

TEST(HttpStreams, SaysWhatIsWrongAsJson) {
  Running running;
  const Answer answer = running.ask("GET", "/v1/stream/missing");
  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.header("content-type"), "application/json");
  const json error = json::parse(answer.body)["error"];
  EXPECT_EQ(error["code"], "not_found");
  EXPECT_EQ(error["remedy"], "fix_request");
  EXPECT_NE(error["message"].get<std::string>().find("missing"), std::string::npos);
  EXPECT_TRUE(error.contains("expected"));
  EXPECT_TRUE(error.contains("actual"));
}

TEST(HttpStreams, S15_AReaderBelowTheFirstOffsetIsToldIt) {
  Running running;
  Stream stream = running.make("a");
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(stream.append("x"));
  ASSERT_TRUE(stream.trim(Offset{4}));
  const Answer answer = running.ask("GET", "/v1/stream/a?offset=0000000000000000_0000000000000001");
  EXPECT_EQ(answer.status, 410);
  EXPECT_EQ(json::parse(answer.body)["error"]["actual"], 4);
  EXPECT_EQ(running.ask("GET", "/v1/stream/a").body, "xxxxxx");
  EXPECT_EQ(running.ask("GET", "/v1/stream/a?last=2").body, "xx");
}

TEST(HttpStreams, ListsWithPrefixPagesAndLimits) {
  Running running;
  for (const char* name : {"a/1", "a/2", "a/3", "b"}) running.make(name);
  const json first = json::parse(running.ask("GET", "/v1/streams?prefix=a/&limit=2").body);
  ASSERT_EQ(first["streams"].size(), 2u);
  EXPECT_EQ(first["streams"][0]["name"], "a/1");
  EXPECT_EQ(first["streams"][0]["contentType"], "text/plain");
  EXPECT_EQ(first["streams"][0]["tail"], "0000000000000000_0000000000000000");
  EXPECT_EQ(first["nextAfter"], "a/2");
  const json rest = json::parse(running.ask("GET", "/v1/streams?prefix=a/&after=a/2").body);
  ASSERT_EQ(rest["streams"].size(), 1u);
  EXPECT_EQ(rest["nextAfter"], "");
  for (const char* query : {"limit=0", "limit=1001", "limit=x", "prefix=%", "live=maybe"}) {
    EXPECT_EQ(running.ask("GET", std::string{"/v1/streams?"} + query).status, 400) << query;
  }
}

TEST(HttpStreams, AStreamMadeAnewElsewhereIsFoundAgain) {
  Running running;
  running.make("a");
  EXPECT_EQ(running.ask("POST", "/v1/stream/a", "Content-Type: text/plain\r\n", "old").status, 204);
  ASSERT_TRUE(running.streams.remove("a"));
  running.make("a");
  EXPECT_EQ(running.ask("POST", "/v1/stream/a", "Content-Type: text/plain\r\n", "new").status, 204);
  EXPECT_EQ(running.ask("GET", "/v1/stream/a").body, "new");
  ASSERT_TRUE(running.streams.remove("a"));
  EXPECT_EQ(running.ask("POST", "/v1/stream/a", "Content-Type: text/plain\r\n", "x").status, 404);
}

TEST(HttpConnection, AnswersPipelinedRequestsInOrder) {
  Running running;
  Stream stream = running.make("a");
  ASSERT_TRUE(stream.append("one"));
  Client client{running.port()};
  client.send(
      "POST /v1/stream/a HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
      "Content-Length: 3\r\n\r\ntwo"
      "GET /v1/stream/a HTTP/1.1\r\nHost: localhost\r\n\r\n"
      "HEAD /v1/stream/a HTTP/1.1\r\nHost: localhost\r\n\r\n"
      "GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n"
      "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(client.answer().status, 204);
  EXPECT_EQ(client.answer().body, "onetwo");
  const Answer head = client.answer(true);
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.header("stream-next-offset"), "0000000000000000_0000000000000002");
  EXPECT_EQ(client.answer().status, 404);
  EXPECT_EQ(client.answer().status, 200);
}

TEST(HttpConnection, TakesARequestInPieces) {
  Running running;
  running.make("a");
  Client client{running.port()};
  const std::string request =
      "POST /v1/stream/a HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
      "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
  for (const char c : request) client.send({&c, 1});
  EXPECT_EQ(client.answer().status, 204);
  EXPECT_EQ(client.ask("GET", "/v1/stream/a").body, "abcde");
}

TEST(HttpConnection, RefusesAnAmbiguousLengthAndEnds) {
  Running running;
  running.make("a");
  Client client{running.port()};
  client.send(
      "POST /v1/stream/a HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
      "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
      "0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(client.answer().status, 400);
  EXPECT_EQ(client.answer().status, 0);
  EXPECT_TRUE(client.closed());
}

TEST(HttpConnection, RefusesTooMuchBeforeItIsSent) {
  Running running{{.header_bytes_max = 2'000, .body_bytes_max = 1'000}};
  running.make("a");
  Client large{running.port()};
  large.send(
      "POST /v1/stream/a HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
      "Content-Length: 1001\r\n\r\n");
  const Answer answer = large.answer();
  EXPECT_EQ(answer.status, 413);
  EXPECT_EQ(json::parse(answer.body)["error"]["expected"], 1'000);
  EXPECT_TRUE(large.closed());
  Client headers{running.port()};
  headers.request("GET", "/", "X-Long: " + std::string(3'000, 'x') + "\r\n");
  EXPECT_EQ(headers.answer().status, 431);
  EXPECT_TRUE(headers.closed());
  Client endless{running.port()};
  endless.send("GET /" + std::string(3'000, 'x'));
  EXPECT_EQ(endless.answer().status, 431);
}

TEST(HttpConnection, SaysGoOnToThoseWhoAsk) {
  Running running;
  running.make("a");
  Client client{running.port()};
  client.send(
      "POST /v1/stream/a HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
      "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  std::array<char, 64> bytes{};
  const ssize_t got = ::read(client.fd(), bytes.data(), bytes.size());
  ASSERT_GT(got, 0);
  EXPECT_EQ(std::string(bytes.data(), static_cast<std::size_t>(got)),
            "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("ab");
  EXPECT_EQ(client.answer().status, 204);
}

TEST(HttpConnection, CutsOffThoseWhoAreSlowOrSilent) {
  Running running{{.idle_timeout = 150ms, .header_timeout = 100ms, .body_timeout = 100ms}};
  running.make("a");
  Client silent{running.port()};
  EXPECT_TRUE(silent.closed());
  Client drop{running.port()};
  drop.send("GET / HT");
  EXPECT_EQ(drop.answer().status, 408);
  EXPECT_TRUE(drop.closed());
  Client half{running.port()};
  half.send(
      "POST /v1/stream/a HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
      "Content-Length: 10\r\n\r\nabc");
  EXPECT_EQ(half.answer().status, 408);
  EXPECT_EQ(running.ask("GET", "/v1/stream/a").body, "");
}

TEST(HttpConnection, TakesNoMoreConnectionsThanAsked) {
  Running running{{.connections_max = 3}};
  Client one{running.port()};
  Client two{running.port()};
  EXPECT_EQ(one.ask("GET", "/healthz").status, 200);
  EXPECT_EQ(two.ask("GET", "/healthz").status, 200);
  {
    Client three{running.port()};
    EXPECT_EQ(three.ask("GET", "/healthz").status, 200);
    Client four{running.port()};
    EXPECT_EQ(four.answer().status, 503);
    EXPECT_TRUE(four.closed());
  }
  for (int tries = 0; tries < 500; ++tries) {
    Client again{running.port()};
    again.request("GET", "/healthz");
    if (again.answer().status == 200) return;
    std::this_thread::sleep_for(10ms);
  }
  FAIL() << "a connection that ended still counts";
}

TEST(HttpAccess, DemandsTheTokenOnOtherAddressesAndOfRequests) {
  auto store = make_memory_store();
  Streams streams{*store};
  http::ServerOptions open_to_all;
  open_to_all.address = "0.0.0.0";
  open_to_all.port = 0;
  const auto refused = http::Server::open(open_to_all, *store, streams);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);

  http::ServerOptions options;
  options.token = "s3cret";
  Running running{options};
  const Answer without = running.ask("GET", "/v1/streams");
  EXPECT_EQ(without.status, 401);
  EXPECT_EQ(without.header("www-authenticate"), "Bearer realm=\"holdfast\"");
  EXPECT_EQ(running.ask("GET", "/v1/streams", "Authorization: Bearer s3cret\r\n").status, 200);
  EXPECT_EQ(running.ask("GET", "/metrics").status, 401);
  EXPECT_EQ(running.ask("GET", "/healthz").status, 200);
  EXPECT_EQ(running.ask("GET", "/").status, 200);
  Client upload{running.port()};
  upload.send(
      "POST /v1/stream/a HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
      "Content-Length: 1000000\r\n\r\n");
  EXPECT_EQ(upload.answer().status, 401) << "refused before its body was sent";
}

TEST(HttpAccess, AnswersPreflightsOfAllowedOriginsAlone) {
  Running running;
  const Answer here = running.ask("OPTIONS", "/v1/stream/a",
                                  "Origin: http://localhost:3000\r\n"
                                  "Access-Control-Request-Method: GET\r\n");
  EXPECT_EQ(here.status, 204);
  EXPECT_EQ(here.header("access-control-allow-origin"), "http://localhost:3000");
  EXPECT_NE(here.header("access-control-allow-headers").find("Last-Event-ID"), std::string::npos);
  const Answer elsewhere =
      running.ask("OPTIONS", "/v1/stream/a", "Origin: https://evil.example\r\n");
  EXPECT_EQ(elsewhere.header("access-control-allow-origin"), "");
  EXPECT_EQ(running
                .ask("POST", "/v1/stream/a",
                     "Origin: https://evil.example\r\nContent-Type: text/plain\r\n", "x")
                .status,
            403);
}

TEST(HttpAccessLog, HasOneLineForEachRequestAndNoQueries) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
  {
    http::ServerOptions options;
    options.access_log_fd = pipe[1];
    Running running{options};
    running.make("a");
    running.ask("GET", "/v1/stream/a?offset=-1&token=s3cret");
    running.ask("GET", "/a%0Ab");
    Client broken{running.port()};
    broken.send("\x16\x03\x01\x02\n\r\n\r\n");
    EXPECT_EQ(broken.answer().status, 400);
  }
  ::close(pipe[1]);
  std::string text(65'536, 0);
  const ssize_t got = ::read(pipe[0], text.data(), text.size());
  ::close(pipe[0]);
  ASSERT_GT(got, 0);
  text.resize(static_cast<std::size_t>(got));
  EXPECT_EQ(text.find("s3cret"), std::string::npos);
  std::vector<json> lines;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    lines.push_back(json::parse(text.substr(at, text.find('\n', at) - at)));
  }
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0]["path"], "/v1/stream/a");
  EXPECT_EQ(lines[0]["status"], 200);
  EXPECT_EQ(lines[1]["path"], "/a%0Ab");
  EXPECT_EQ(lines[2]["status"], 400);
}

}  // namespace
}  // namespace holdfast::http_testing
