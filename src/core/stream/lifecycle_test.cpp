#include "core/stream/lifecycle.h"

#include <gtest/gtest.h>

#include "core/stream/retention.h"

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;

TEST(Lifecycle, ContentTypesAreComparedWithoutCaseAndParameters) {
  EXPECT_EQ(normal_content_type(" Text/Plain ; charset=UTF-8"), "text/plain");
  EXPECT_EQ(normal_content_type(""), "application/octet-stream");
  EXPECT_TRUE(is_json("Application/JSON; x=y"));
  EXPECT_FALSE(is_json("application/jsonl"));
}

TEST(Lifecycle, OptionsThatContradictThemselvesAreRefused) {
  EXPECT_TRUE(check_options({}).has_value());
  EXPECT_FALSE(check_options({.ttl = 5s, .expires_at = Timestamp{9}}).has_value());
  EXPECT_FALSE(check_options({.ttl = -1s}).has_value());
  EXPECT_FALSE(check_options({.ttl = std::chrono::seconds::max()}).has_value());
  EXPECT_FALSE(check_options({.content_type = "text/plain\r\nX: y"}).has_value());
  EXPECT_FALSE(check_options({.retention = {.age_max = -1ms}}).has_value());
}

struct SameCase {
  const char* what;
  StreamOptions options;
  std::string source;
  std::optional<ForkOptions> where;
  std::optional<ErrorCode> error;
};

TEST(Lifecycle, WhetherAStreamIsTheOneAskedFor) {
  StreamRecord record;
  record.content_type = "text/plain";
  record.ttl = 60s;
  record.source = "a";
  record.fork_at = {4};
  record.sub_offset = 2;
  record.retention.chunks_max = 9;
  const StreamOptions same{.content_type = "text/plain", .ttl = 60s};
  const auto with = [&](auto change) {
    StreamOptions options = same;
    change(options);
    return options;
  };
  const ErrorCode other = ErrorCode::kAlreadyExists;
  const SameCase cases[] = {
      {"the same", same, {}, {}, {}},
      {"other type", with([](auto& o) { o.content_type = "text/html"; }), {}, {}, other},
      {"no ttl", with([](auto& o) { o.ttl.reset(); }), {}, {}, other},
      {"other ttl", with([](auto& o) { o.ttl = 61s; }), {}, {}, other},
      {"closed", with([](auto& o) { o.closed = true; }), {}, {}, other},
      {"same retention", with([](auto& o) { o.retention.chunks_max = 9; }), {}, {}, {}},
      {"other retention", with([](auto& o) { o.retention.chunks_max = 8; }), {}, {}, other},
      {"as a fork, all given", same, "a", ForkOptions{Offset{4}, 2}, {}},
      {"as a fork, nothing given", {}, "a", ForkOptions{{}, 2}, {}},
      {"of another source", same, "b", ForkOptions{Offset{4}, 2}, other},
      {"elsewhere", same, "a", ForkOptions{Offset{5}, 2}, other},
      {"other sub-offset", same, "a", ForkOptions{Offset{4}, 3}, other},
      {"other type for a fork",
       {.content_type = "text/html"},
       "a",
       ForkOptions{Offset{4}, 2},
       other},
  };
  for (const SameCase& c : cases) {
    const auto result =
        decide_same("s", record, false, c.options, c.source, c.where ? &*c.where : nullptr);
    EXPECT_EQ(result.has_value(), !c.error) << c.what;
    if (c.error && !result) {
      EXPECT_EQ(result.error().code, *c.error) << c.what;
    }
  }
  record.deleted = true;
  EXPECT_EQ(decide_same("s", record, false, same, {}, nullptr).error().code, ErrorCode::kConflict);
}

TEST(Lifecycle, ADeadlineIsNeverBeforeTheTtlAndSeldomWritten) {
  for (const auto ttl : {1s, 10s, 3'600s, 86'400s * 365}) {
    Timestamp deadline = slide_deadline(ttl, {0}, {});
    int writes = 0;
    const std::int64_t ttl_ms = std::chrono::milliseconds{ttl}.count();
    // A thousand uses within one ttl.
    for (std::int64_t use = 0; use <= ttl_ms; use += std::max<std::int64_t>(ttl_ms / 1'000, 1)) {
      if (must_slide(ttl, {use}, deadline)) {
        deadline = slide_deadline(ttl, {use}, deadline);
        ++writes;
      }
      ASSERT_GE(deadline.ms, use + ttl_ms) << "a stream would expire before its ttl has passed";
    }
    EXPECT_LE(deadline.ms, ttl_ms + ttl_ms + ttl_slack(ttl).count());
    EXPECT_LE(ttl_slack(ttl), 1h);
    if (ttl < 8h) {
      EXPECT_LE(writes, 9);
    }
  }
}

TEST(Lifecycle, E4_AClockThatJumpsBackDoesNotShortenALife) {
  const Timestamp deadline = slide_deadline(10s, {1'000'000}, {});
  EXPECT_FALSE(must_slide(10s, {500'000}, deadline));
  EXPECT_EQ(slide_deadline(10s, {500'000}, deadline), deadline);
}

TEST(Retention, IsLookedAtOnceInAWhile) {
  const Retention none;
  EXPECT_FALSE(retention_due(none, {1'000'000, 1'000'000'000, {0}}, {1'000'000}));
  const Retention chunks{.chunks_max = 800};
  EXPECT_FALSE(retention_due(chunks, {99, 0, {0}}, {0}));
  EXPECT_TRUE(retention_due(chunks, {100, 0, {0}}, {0}));
  const Retention bytes{.bytes_max = 800'000};
  EXPECT_FALSE(retention_due(bytes, {1'000, 99'999, {0}}, {0}));
  EXPECT_TRUE(retention_due(bytes, {1'000, 100'000, {0}}, {0}));
  const Retention age{.age_max = 80s};
  EXPECT_FALSE(retention_due(age, {1, 1, {0}}, {9'999}));
  EXPECT_TRUE(retention_due(age, {1, 1, {0}}, {10'000}));
}

TEST(Retention, NeverTrimsMoreThanAllowed) {
  EXPECT_EQ(trim_for_chunks(10, Offset{0}, Offset{10}), Offset{0});
  EXPECT_EQ(trim_for_chunks(10, Offset{0}, Offset{11}), Offset{1});
  EXPECT_EQ(trim_for_chunks(0, Offset{3}, Offset{11}), Offset{11});
  EXPECT_FALSE(age_cutoff({.age_max = 10s}, {5'000}).has_value());
  EXPECT_EQ(age_cutoff({.age_max = 10s}, {15'000})->ms, 5'000);
}

}  // namespace
}  // namespace holdfast::core
