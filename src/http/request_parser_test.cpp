#include "http/request_parser.h"

#include <string>

#include <gtest/gtest.h>

namespace holdfast::http {
namespace {

using State = RequestParser::State;

struct Parsed {
  State state;
  int status;
  std::string problem;
};

Parsed parse(std::string_view bytes, const RequestLimits& limits = {}) {
  RequestParser parser{limits};
  parser.feed(bytes);
  return {parser.state(), parser.status(), parser.problem()};
}

constexpr std::string_view kPost =
    "POST /v1/stream/a?x=1#frag HTTP/1.1\r\nHost: here\r\nContent-Type: text/plain\r\n"
    "Content-Length: 5\r\n\r\nhello";

TEST(RequestParser, ReadsARequestWhole) {
  RequestParser parser{{}};
  EXPECT_EQ(parser.feed(kPost), kPost.size());
  ASSERT_EQ(parser.state(), State::kDone);
  const Request& request = parser.request();
  EXPECT_EQ(request.method, Method::kPost);
  EXPECT_EQ(request.path, "/v1/stream/a");
  EXPECT_EQ(request.query, "x=1");
  EXPECT_EQ(request.header("content-TYPE"), "text/plain");
  EXPECT_EQ(request.body, "hello");
  EXPECT_TRUE(request.keep_alive);
}

TEST(RequestParser, ReadsARequestCutAtEveryByte) {
  for (std::size_t cut = 1; cut < kPost.size(); ++cut) {
    RequestParser parser{{}};
    std::string pending{kPost.substr(0, cut)};
    pending.erase(0, parser.feed(pending));
    ASSERT_NE(parser.state(), State::kDone) << cut;
    pending += kPost.substr(cut);
    pending.erase(0, parser.feed(pending));
    ASSERT_EQ(parser.state(), State::kDone) << cut;
    EXPECT_EQ(parser.request().body, "hello") << cut;
    EXPECT_TRUE(pending.empty()) << cut;
  }
}

TEST(RequestParser, ReadsARequestByteByByte) {
  RequestParser parser{{}};
  std::string pending;
  for (const char c : kPost) {
    pending.push_back(c);
    pending.erase(0, parser.feed(pending));
  }
  ASSERT_EQ(parser.state(), State::kDone);
  EXPECT_EQ(parser.request().body, "hello");
}

TEST(RequestParser, LeavesTheNextRequestUnread) {
  const std::string two = std::string{kPost} + "GET /b HTTP/1.1\r\nHost: h\r\n\r\n";
  RequestParser parser{{}};
  EXPECT_EQ(parser.feed(two), kPost.size());
  ASSERT_EQ(parser.state(), State::kDone);
  parser.reset();
  parser.feed(std::string_view{two}.substr(kPost.size()));
  ASSERT_EQ(parser.state(), State::kDone);
  EXPECT_EQ(parser.request().path, "/b");
}

TEST(RequestParser, ReadsChunkedBodies) {
  RequestParser parser{{}};
  parser.feed(
      "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: "
      "chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n"
      "\r\n");
  ASSERT_EQ(parser.state(), State::kDone);
  EXPECT_EQ(parser.request().body, "abcde");
}

TEST(RequestParser, RefusesWhatProxiesAndServersReadDifferently) {
  const struct {
    const char* what;
    const char* bytes;
  } cases[]{
      {"length and coding",
       "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n"
       "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
      {"coding and length",
       "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n"
       "Content-Length: 5\r\n\r\n0\r\n\r\n"},
      {"two lengths",
       "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n"},
      {"the same length twice",
       "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello"},
      {"a signed length", "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: +5\r\n\r\nhello"},
      {"a length in hex", "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 0x5\r\n\r\nhello"},
      {"a coding with more",
       "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked, gzip\r\n\r\n"},
      {"a coding twice",
       "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n"
       "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
      {"an unknown coding", "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: xchunked\r\n\r\n"},
      {"a coding in HTTP/1.0", "POST /a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
      {"a blank before the colon", "GET /a HTTP/1.1\r\nHost : h\r\n\r\n"},
      {"no host", "GET /a HTTP/1.1\r\n\r\n"},
      {"two hosts", "GET /a HTTP/1.1\r\nHost: h\r\nHost: i\r\n\r\n"},
      {"a NUL in a header", nullptr},
      {"a NUL in the path", nullptr},
      {"a path without its slash", "GET a HTTP/1.1\r\nHost: h\r\n\r\n"},
      {"a bare newline", "GET /a HTTP/1.1\nHost: h\n\n"},
      {"another version", "GET /a HTTP/2.0\r\nHost: h\r\n\r\n"},
      {"another protocol", "SSH-2.0-OpenSSH_9\r\n\r\n"},
      {"an expectation", "GET /a HTTP/1.1\r\nHost: h\r\nExpect: miracles\r\n\r\n"},
      {"broken chunks", "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"},
  };
  for (const auto& each : cases) {
    std::string bytes = each.bytes != nullptr ? each.bytes : "";
    if (std::string_view{each.what} == "a NUL in a header") {
      bytes = std::string{"GET /a HTTP/1.1\r\nHost: h\r\nX: a"} + '\0' + "b\r\n\r\n";
    } else if (std::string_view{each.what} == "a NUL in the path") {
      bytes = std::string{"GET /a"} + '\0' + " HTTP/1.1\r\nHost: h\r\n\r\n";
    }
    const Parsed parsed = parse(bytes);
    EXPECT_EQ(parsed.state, State::kFailed) << each.what;
    EXPECT_GE(parsed.status, 400) << each.what;
    EXPECT_FALSE(parsed.problem.empty()) << each.what;
  }
}

TEST(RequestParser, KeepsItsLimits) {
  const RequestLimits limits{.header_bytes_max = 1'000, .headers_max = 10, .body_bytes_max = 20};
  EXPECT_EQ(parse("GET /" + std::string(2'000, 'a'), limits).status, 431);
  std::string many = "GET / HTTP/1.1\r\nHost: h\r\n";
  for (int i = 0; i < 11; ++i) many += "A: b\r\n";
  EXPECT_EQ(parse(many + "\r\n", limits).status, 431);
  EXPECT_EQ(parse("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 21\r\n\r\n", limits).status, 413);
  EXPECT_EQ(parse("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nf\r\n"
                  "123456789012345\r\nf\r\n123456789012345\r\n",
                  limits)
                .status,
            413);
  EXPECT_EQ(
      parse("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 20\r\n\r\n12345678901234567890", limits)
          .state,
      State::kDone);
}

TEST(RequestParser, TakesAbsoluteTargetsAndOldVersions) {
  RequestParser absolute{{}};
  absolute.feed("GET http://elsewhere/p?q HTTP/1.1\r\nHost: h\r\n\r\n");
  ASSERT_EQ(absolute.state(), State::kDone);
  EXPECT_EQ(absolute.request().path, "/p");
  EXPECT_EQ(absolute.request().query, "q");
  RequestParser old{{}};
  old.feed("GET / HTTP/1.0\r\n\r\n");
  ASSERT_EQ(old.state(), State::kDone);
  EXPECT_TRUE(old.request().http_1_0);
  EXPECT_FALSE(old.request().keep_alive);
  RequestParser closing{{}};
  closing.feed("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  ASSERT_EQ(closing.state(), State::kDone);
  EXPECT_FALSE(closing.request().keep_alive);
}

}  // namespace
}  // namespace holdfast::http
