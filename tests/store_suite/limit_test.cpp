// Limits and what comes from outside: names cannot leave their place, payloads are kept exactly.
#include <gmock/gmock.h>

#include "store_suite.h"

namespace holdfast::suite {
namespace {

using testing::ElementsAre;
using Limits = StoreSuite;

const std::vector<std::string>& bad_names() {
  static const std::vector<std::string> names{
      "",
      std::string(kNameBytesMax + 1, 'n'),
      std::string("a\0b", 3),
      "line\nbreak",
      "bell\a",
      "delete\x7f",
      "\xc2\x85",          // a control character above ASCII
      "\xff",              // not UTF-8
      "\xc0\xaf",          // overlong
      "\xed\xa0\x80",      // a surrogate
      "\xf4\x90\x80\x80",  // above U+10FFFF
      "cut\xe2\x82",
  };
  return names;
}

TEST_P(Limits, E5_NamesThatAreNotPlainAreRefused) {
  create();
  const std::string before = dump();
  for (const std::string& name : bad_names()) {
    SCOPED_TRACE(testing::PrintToString(name));
    const std::vector<Batch> batches{
        {.home = name},
        {.home = kHome, .creates = {{.log = name}}},
        {.home = kHome, .appends = {{.log = name, .records = {"x"}}}},
        {.home = kHome, .trims = {{.log = name}}},
        {.home = kHome, .removes = {{.log = name}}},
        {.home = kHome, .puts = {{.space = name, .key = "k"}}},
        {.home = kHome, .deletes = {{.space = name, .key = "k"}}},
    };
    for (const Batch& batch : batches) refused(store().commit(batch), ErrorCode::kInvalidArgument);
    // Nothing bears such a name: to read is to find nothing.
    EXPECT_FALSE(store().tail({name, "log"}));
    EXPECT_FALSE(store().tail({kHome, name}));
    EXPECT_FALSE(store().read({kHome, name}, Offset{0}));
  }
  EXPECT_EQ(dump(), before);
}

TEST_P(Limits, E5_NamesThatLookLikeCommandsOrPathsAreJustNames) {
  const std::vector<std::string> names{
      "../../etc/passwd",
      "/",
      ".",
      "..",
      "a//b",
      "'; DROP TABLE logs; --",
      "\"",
      "%",
      "_",
      "?1",
      "\\",
      "a b",
      "\xe2\x82\xac",
      "\xf0\x9f\x98\x80",
      std::string(kNameBytesMax, 'n'),
      "A",
      "a",
  };
  for (const std::string& name : names) {
    ok(store().commit({.home = name,
                       .creates = {{.log = name}},
                       .appends = {{.log = name, .records = {name}}},
                       .puts = {{.space = name, .key = name, .value = name}}}));
  }
  for (const std::string& name : names) {
    const auto all = sim::read_all(store(), {name, name}, Offset{0});
    EXPECT_EQ(all.problem, "");
    EXPECT_THAT(all.records, ElementsAre(name));
    EXPECT_EQ(get(name, name)->value, name);
    EXPECT_EQ(ok(store().scan(name, {}, 10)).size(), 1u);
  }
  EXPECT_EQ(ok(store().logs({}, 100)).size(), names.size());
}

TEST_P(Limits, E3_PayloadsAreKeptExactly) {
  create();
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  const std::string nul("\0", 1);
  const std::string inside("before\0after", 12);
  const std::vector<Bytes> exact{nul, inside, "", all, nul + nul, "\xff\xfe", "", "NaN", "\n"};
  append({exact.begin(), exact.end()});
  for (const Bytes& one : exact) append({one});
  const auto back = records();
  ASSERT_EQ(back.size(), 2 * exact.size());
  for (std::size_t i = 0; i < back.size(); ++i) EXPECT_EQ(back[i], exact[i % exact.size()]) << i;
  for (const Bytes& one : exact) {
    put("k", one);
    EXPECT_EQ(get("k")->value, one);
  }
}

TEST_P(Limits, OfKeysHold) {
  const std::string longest(kKeyBytesMax, '\xff');
  put(longest, "v");
  EXPECT_EQ(get(longest)->value, "v");
  for (const bool putting : {true, false}) {
    Batch batch{.home = kHome};
    if (putting) {
      batch.puts.push_back({.space = "rows", .key = longest + "x"});
    } else {
      batch.deletes.push_back({.space = "rows", .key = longest + "x"});
    }
    const Error error = refused(store().commit(batch), ErrorCode::kTooLarge);
    EXPECT_EQ(error.expected, kKeyBytesMax);
    EXPECT_EQ(error.actual, kKeyBytesMax + 1);
  }
}

TEST_P(Limits, OfRecordsHold) {
  create();
  const std::string largest(kRecordBytesMax, 'x');
  const std::string larger = largest + "x";
  append({largest});
  const Error record =
      refused(commit_append({.log = "log", .records = {larger}}), ErrorCode::kTooLarge);
  EXPECT_EQ(record.expected, kRecordBytesMax);
  EXPECT_EQ(record.actual, kRecordBytesMax + 1);
  EXPECT_EQ(records().at(0), largest);
  ok(store().commit({.home = kHome, .puts = {{.space = "rows", .key = "k", .value = largest}}}));
  EXPECT_EQ(get("k")->value, largest);
  refused(store().commit({.home = kHome, .puts = {{.space = "rows", .key = "l", .value = larger}}}),
          ErrorCode::kTooLarge);
  EXPECT_EQ(tail().tail, Offset{1});
}

TEST_P(Limits, OfBatchesHold) {
  create();
  create("two");
  const std::string part(kRecordBytesMax, 'x');
  static_assert(kBatchBytesMax == 4 * kRecordBytesMax);
  EXPECT_EQ(refused(store().commit({.home = kHome,
                                    .appends = {{.log = "log", .records = {part, part}},
                                                {.log = "two", .records = {part, part, "x"}}}}),
                    ErrorCode::kTooLarge)
                .expected,
            kBatchBytesMax);
  refused(store().commit({.home = kHome,
                          .appends = {{.log = "log", .records = {part, part, part, part}}},
                          .puts = {{.space = "rows", .key = "k", .value = "x"}}}),
          ErrorCode::kTooLarge);
  EXPECT_EQ(tail().tail, Offset{0});
  EXPECT_FALSE(get("k"));

  const std::vector<BytesView> many(kBatchRecordsMax, "r");
  const Error records = refused(store().commit({.home = kHome,
                                                .appends = {{.log = "log", .records = many},
                                                            {.log = "two", .records = {"r"}}}}),
                                ErrorCode::kTooLarge);
  EXPECT_EQ(records.expected, kBatchRecordsMax);
  EXPECT_EQ(append(many).next, Offset{kBatchRecordsMax});
}

INSTANTIATE_TEST_SUITE_P(All, Limits, testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace holdfast::suite
