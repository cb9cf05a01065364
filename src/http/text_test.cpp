// The small parts: URLs, cursors, JSON bodies, dates, server-sent events, log lines, who may ask.
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "http/access.h"
#include "http/access_log.h"
#include "http/json_body.h"
#include "http/offset_token.h"
#include "http/response.h"
#include "http/sse.h"
#include "http/url.h"

namespace holdfast::http {
namespace {

TEST(Url, UndoesPercentEncodingAndRefusesBrokenOne) {
  EXPECT_EQ(percent_decode("a%2Fb%20c+d"), "a/b c+d");
  EXPECT_EQ(percent_decode("%00"), std::string(1, '\0'));
  for (const char* broken : {"%", "%2", "%zz", "a%g0", "%%"}) {
    EXPECT_EQ(percent_decode(broken), std::nullopt) << broken;
  }
  const auto query = Query::parse("a=1&b=x%26y+z&a=2&c&=d&");
  ASSERT_TRUE(query);
  EXPECT_EQ(query->get("a"), "1");
  EXPECT_EQ(query->count("a"), 2u);
  EXPECT_EQ(query->get("b"), "x&y z");
  EXPECT_EQ(query->get("c"), "");
  EXPECT_EQ(query->get("e"), std::nullopt);
  EXPECT_FALSE(Query::parse("a=%"));
}

TEST(OffsetToken, GoesBothWaysAndSortsAsText) {
  EXPECT_EQ(offset_token(Offset{0}), "0000000000000000_0000000000000000");
  EXPECT_EQ(offset_token(Offset{42}), "0000000000000000_0000000000000042");
  EXPECT_LT(offset_token(Offset{99}), offset_token(Offset{100}));
  EXPECT_EQ(parse_offset_token("0000000000000000_0000000000000042"), Offset{42});
  for (const char* bad : {"", "42", "_", "0_", "_0", "1_0", "0_0_0", "0_-1", "0_1x", " 0_1",
                          "0_99999999999999999999", "../..", "0,1"}) {
    EXPECT_EQ(parse_offset_token(bad), std::nullopt) << bad;
  }
}

std::vector<std::string> split(std::string_view body) {
  const auto values = split_json_body(body);
  if (!values) return {"refused"};
  return {values->begin(), values->end()};
}

TEST(JsonBody, IsSplitAtTheTopLevelAlone) {
  using Values = std::vector<std::string>;
  EXPECT_EQ(split(R"([1, "a,]", {"b":[2,3]}, [4]])"),
            (Values{"1", R"("a,]")", R"({"b":[2,3]})", "[4]"}));
  EXPECT_EQ(split(R"(["\\","\"]"])"), (Values{R"("\\")", R"("\"]")"}));
  EXPECT_EQ(split(" {\"a\": 1}\n"), (Values{"{\"a\": 1}"}));
  EXPECT_EQ(split("[]"), Values{});
  EXPECT_EQ(split(" [ ] "), Values{});
  for (const char* broken :
       {"", "  ", "[", "[1", "[1,]", "[,1]", "[,]", "[1,,2]", "[1]]", "[1}", "[1] x", "[\"a]"}) {
    EXPECT_EQ(split(broken), Values{"refused"}) << broken;
  }
}

TEST(JsonBody, KnowsJsonAndTextByTheirMediaType) {
  EXPECT_TRUE(is_json("Application/JSON; charset=utf-8"));
  EXPECT_FALSE(is_json("application/json-lines"));
  EXPECT_TRUE(is_text("text/plain"));
  EXPECT_TRUE(is_text("application/json"));
  EXPECT_FALSE(is_text("application/octet-stream"));
}

TEST(Dates, AreWrittenAndReadAsTheirStandardsSay) {
  const Timestamp at{1'796'029'200'123};
  EXPECT_EQ(rfc3339(at), "2026-11-30T09:00:00.123Z");
  EXPECT_EQ(http_date(at), "Mon, 30 Nov 2026 09:00:00 GMT");
  EXPECT_EQ(parse_rfc3339("2026-11-30T09:00:00.123Z"), at);
  EXPECT_EQ(parse_rfc3339("2026-11-30T11:30:00.1234+02:30"), at);
  EXPECT_EQ(parse_rfc3339("2026-11-30T08:00:00-01:00"), (Timestamp{at.ms - 123}));
  for (const char* bad : {"", "not-a-timestamp", "2026-11-30", "2026-13-30T09:00:00Z",
                          "2026-02-30T09:00:00Z", "2026-11-30T25:00:00Z", "2026-11-30T09:00:00",
                          "2026-11-30T09:00:00.Z", "2026-11-30T09:00:00+0100"}) {
    EXPECT_EQ(parse_rfc3339(bad), std::nullopt) << bad;
  }
}

Chunk chunk(std::uint64_t offset, std::string_view bytes) {
  return {Offset{offset}, Offset{offset + 1}, bytes};
}

std::string events_of(std::string_view type, std::string_view bytes) {
  const Chunk one = chunk(6, bytes);
  const FramePtr frame = encode_batch(Form::kEvents, type, {.chunks = {&one, 1}, .next = one.next});
  return std::string{frame->plain()};
}

TEST(Sse, AChunkBecomesOneEventWhoseIdIsTheCursorAfterIt) {
  EXPECT_EQ(events_of("text/plain", "hello"),
            "id: 0000000000000000_0000000000000007\ndata:hello\n\n");
}

TEST(Sse, NoLineOfAChunkCanBecomeAFieldOfItsOwn) {
  EXPECT_EQ(events_of("text/plain", "a\nid: 9\r\nevent: x\r\rdata: y"),
            "id: 0000000000000000_0000000000000007\ndata:a\ndata:id: 9\ndata:event: x\ndata:\n"
            "data:data: y\n\n");
  EXPECT_EQ(events_of("text/plain", " led by a blank"),
            "id: 0000000000000000_0000000000000007\ndata:  led by a blank\n\n");
}

TEST(Sse, BytesThatAreNoTextAreBase64) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64(std::string_view{"\xff\x00\xfe", 3}), "/wD+");
  EXPECT_EQ(events_of("image/png", "foo"), "id: 0000000000000000_0000000000000007\ndata:Zm9v\n\n");
}

TEST(Sse, AFrameIsAWholeHttpChunk) {
  FrameBuilder builder;
  builder.raw(std::string(26, 'x'));
  const FramePtr frame = builder.finish();
  EXPECT_EQ(frame->chunked(), "0000001a\r\n" + std::string(26, 'x') + "\r\n");
  EXPECT_EQ(frame->plain(), std::string(26, 'x'));
}

TEST(Sse, TheProtocolPairsDataWithControl) {
  const std::vector<Chunk> chunks{chunk(0, "1"), chunk(1, "[2]")};
  const FramePtr frame =
      encode_batch(Form::kProtocol, "application/json",
                   {.chunks = chunks, .next = Offset{2}, .at_tail = true, .interval = 77});
  EXPECT_EQ(frame->plain(),
            "event: data\ndata:[1,[2]]\n\nevent: control\n"
            "data:{\"streamNextOffset\":\"0000000000000000_0000000000000002\",\"streamCursor\":"
            "\"77\",\"upToDate\":true}\n\n");
  const FramePtr end = encode_batch(Form::kProtocol, "application/json",
                                    {.next = Offset{2}, .at_tail = true, .closed = true});
  EXPECT_EQ(end->plain(),
            "event: control\ndata:{\"streamNextOffset\":\"0000000000000000_0000000000000002\","
            "\"streamClosed\":true}\n\n");
  EXPECT_EQ(encode_batch(Form::kProtocol, "text/plain", {.next = Offset{2}, .at_tail = true}),
            nullptr);
}

TEST(Sse, TheIntervalIsAlwaysPastTheClients) {
  const Timestamp now{1'796'029'200'123};
  const std::uint64_t current = cursor_interval(now, 0);
  EXPECT_EQ(cursor_interval({now.ms + 20'000}, 0), current + 1);
  EXPECT_EQ(cursor_interval(now, current - 1), current);
  EXPECT_EQ(cursor_interval(now, current), current + 1);
  EXPECT_EQ(cursor_interval(now, current + 9), current + 10);
  EXPECT_EQ(cursor_interval({0}, 0), 1u);
}

TEST(AccessLog, ALineStaysOneLineWhateverIsInIt) {
  const std::string line = access_line({.time = Timestamp{1'796'029'200'123},
                                        .method = "GET",
                                        .path = "/a\n\"\x01\xff\x7f/b",
                                        .status = 200,
                                        .bytes = 12,
                                        .duration_us = 34,
                                        .remote = "127.0.0.1:1"});
  ASSERT_TRUE(line.ends_with('\n'));
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto parsed = nlohmann::json::parse(line);
  EXPECT_EQ(parsed["time"], "2026-11-30T09:00:00.123Z");
  EXPECT_EQ(parsed["status"], 200);
  EXPECT_EQ(parsed["bytes"], 12);
  EXPECT_EQ(parsed["duration_us"], 34);
  EXPECT_NE(line.find("\\u0001"), std::string::npos);
  EXPECT_LT(access_line({.path = std::string(10'000, 'x')}).size(), 800u);
}

Request request_with(std::vector<std::pair<std::string, std::string>> headers,
                     std::string query = {}) {
  Request request;
  request.method = Method::kGet;
  request.path = "/v1/stream/a";
  request.query = std::move(query);
  request.headers = std::move(headers);
  return request;
}

int refusal(const ServerOptions& options, const Request& request) {
  const auto refused = Access{options}.refuse(request);
  return refused ? refused->status : 0;
}

TEST(Access, WithoutATokenOnlyThisMachineMayAsk) {
  const ServerOptions options;
  EXPECT_EQ(refusal(options, request_with({{"Host", "127.0.0.1:80"}})), 0);
  EXPECT_EQ(refusal(options, request_with({{"Host", "localhost:80"}})), 0);
  EXPECT_EQ(refusal(options, request_with({{"Host", "[::1]:80"}})), 0);
  EXPECT_EQ(refusal(options, request_with({{"Host", "evil.example"}})), 421);
  EXPECT_EQ(refusal(options, request_with({{"Host", "127.0.0.1.evil.example"}})), 421);
  const std::string here = "127.0.0.1:80";
  EXPECT_EQ(refusal(options, request_with({{"Host", here}, {"Origin", "http://127.0.0.1:80"}})), 0);
  EXPECT_EQ(refusal(options, request_with({{"Host", here}, {"Origin", "http://localhost:5"}})), 0);
  EXPECT_EQ(refusal(options, request_with({{"Host", here}, {"Origin", "https://evil.example"}})),
            403);
  EXPECT_EQ(refusal(options, request_with({{"Host", here}, {"Origin", "null"}})), 403);
}

TEST(Access, OriginsAndHostsThatWereNamedMayAsk) {
  ServerOptions options;
  options.cors_origins = {"https://good.example"};
  options.allow_hosts = {"inside.example"};
  const std::pair<std::string, std::string> host{"Host", "inside.example:80"};
  EXPECT_EQ(refusal(options, request_with({host})), 0);
  EXPECT_EQ(refusal(options, request_with({host, {"Origin", "https://good.example"}})), 0);
  EXPECT_EQ(refusal(options, request_with({host, {"Origin", "https://evil.example"}})), 403);
  options.cors_origins = {"*"};
  EXPECT_EQ(refusal(options, request_with({host, {"Origin", "https://evil.example"}})), 0);
}

TEST(Access, ATokenIsDemandedWhereThereIsOne) {
  ServerOptions options;
  options.token = "s3cret";
  const auto with = [](std::string value) {
    return request_with({{"Host", "anything"}, {"Authorization", std::move(value)}});
  };
  EXPECT_EQ(refusal(options, with("Bearer s3cret")), 0);
  EXPECT_EQ(refusal(options, with("bearer  s3cret ")), 0);
  EXPECT_EQ(refusal(options, with("Bearer s3creT")), 401);
  EXPECT_EQ(refusal(options, with("Bearer ")), 401);
  EXPECT_EQ(refusal(options, with("Bearer")), 401);
  EXPECT_EQ(refusal(options, with("Basic s3cret")), 401);
  EXPECT_EQ(refusal(options, request_with({{"Host", "h"}})), 401);
  EXPECT_EQ(refusal(options, request_with({{"Host", "h"}}, "live=events&token=s3cret")), 0);
  EXPECT_EQ(refusal(options, request_with({{"Host", "h"}}, "live=events&token=s3cre")), 401);
  EXPECT_EQ(refusal(options, request_with({{"Host", "h"}}, "token=s3cret")), 401);
  Request page = request_with({{"Host", "h"}});
  page.path = "/assets/app.js";
  EXPECT_EQ(refusal(options, page), 0);
}

}  // namespace
}  // namespace holdfast::http
