#include "cli/args/parse.h"

#include <gtest/gtest.h>

#include "cli/args/suggest.h"

namespace holdfast::cli {
namespace {

// holdfast-like tree: prog [--store S] [--json] { group { put NAME [CHUNK...] [-n,--limit N]
// [-v,--verbose] [--from F] }, go }
class Put final : public Command {
 public:
  Put() : Command{"put", "Put"} {
    argument("NAME", "what", name);
    Argument& many = argument("CHUNK", "chunks", chunks);
    many.many = true;
    many.required = false;
    option("-n,--limit", "N", "limit", limit);
    option("--from", "F", "from", from);
    option("--label", "L", "label", label);
    flag("-v,--verbose", "verbose", verbose);
    flag("-q,--quiet", "quiet", quiet);
  }
  [[nodiscard]] Result<void> validate() const override {
    if (verbose && quiet) return fail(ErrorCode::kInvalidArgument, "-v and -q do not go together");
    return {};
  }
  std::string name;
  std::vector<std::string> chunks;
  std::uint64_t limit = 0;
  From from;
  std::optional<std::string> label;
  bool verbose = false;
  bool quiet = false;
};

class Plain final : public Command {
 public:
  using Command::Command;
};

class Top final : public Command {
 public:
  Top() : Command{"prog", "Program"} {
    option("--store", "S", "store", store);
    flag("--json", "json", json);
  }
  std::string store;
  bool json = false;
};

struct Tree {
  Tree() {
    Command& group = top.add(std::make_unique<Plain>("group", "Group"));
    put = static_cast<Put*>(&group.add(std::make_unique<Put>()));
    top.add(std::make_unique<Plain>("go", "Go"));
  }
  Result<Parsed> parse(std::vector<std::string> words) { return cli::parse(top, words); }
  std::string refusal(std::vector<std::string> words) {
    const auto parsed = cli::parse(top, words);
    EXPECT_FALSE(parsed);
    return parsed ? "" : parsed.error().message;
  }
  Top top;
  Put* put = nullptr;
};

TEST(Parse, OptionsOfTheProgramStandBeforeOrAfterTheCommand) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"--store", "s", "--json", "group", "put", "a"},
                                             {"group", "--store=s", "put", "--json", "a"},
                                             {"group", "put", "a", "--json", "--store", "s"}}) {
    Tree tree;
    const auto parsed = tree.parse(words);
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(parsed->command, tree.put);
    EXPECT_EQ(tree.top.store, "s");
    EXPECT_TRUE(tree.top.json);
    EXPECT_EQ(tree.put->name, "a");
  }
}

TEST(Parse, TheWordAfterAnOptionIsItsValueWhateverItLooksLike) {
  Tree tree;
  ASSERT_TRUE(tree.parse({"group", "put", "a", "--from", "-5", "--label", "--json", "-n", "7"}));
  EXPECT_EQ(tree.put->from.kind(), From::Kind::kLast);
  EXPECT_EQ(tree.put->label, "--json");
  EXPECT_EQ(tree.put->limit, 7u);
  EXPECT_FALSE(tree.top.json);
}

TEST(Parse, E3_ArgumentsArriveByteForByte) {
  Tree tree;
  const std::vector<std::string> chunks{"[1,2,3]", "",   "{\"a\": [1]}", "a\nb", "-", "group",
                                        "put",     "go", "\xff\xfe",     "a=b",  "%", "'\""};
  std::vector<std::string> words{"group", "put", "a"};
  words.insert(words.end(), chunks.begin(), chunks.end());
  ASSERT_TRUE(tree.parse(words));
  EXPECT_EQ(tree.put->chunks, chunks);
}

TEST(Parse, AnEmptyValueIsAValue) {
  Tree tree;
  ASSERT_TRUE(tree.parse({"group", "put", "a", "--label=", "chunk"}));
  EXPECT_EQ(tree.put->label, "");
  EXPECT_EQ(tree.put->chunks, (std::vector<std::string>{"chunk"}));
}

TEST(Parse, AfterTwoDashesNothingIsAnOption) {
  Tree tree;
  ASSERT_TRUE(tree.parse({"group", "put", "--", "--json", "--", "-n"}));
  EXPECT_EQ(tree.put->name, "--json");
  EXPECT_EQ(tree.put->chunks, (std::vector<std::string>{"--", "-n"}));
  EXPECT_FALSE(tree.top.json);
}

TEST(Parse, LettersRunTogether) {
  Tree tree;
  ASSERT_TRUE(tree.parse({"group", "put", "a", "-vn12"}));
  EXPECT_TRUE(tree.put->verbose);
  EXPECT_EQ(tree.put->limit, 12u);
}

TEST(Parse, UnknownWordsSuggestTheNearest) {
  Tree tree;
  EXPECT_NE(tree.refusal({"gruop", "put"}).find("did you mean 'group'?"), std::string::npos);
  EXPECT_NE(tree.refusal({"group", "putt"}).find("did you mean 'put'?"), std::string::npos);
  EXPECT_NE(tree.refusal({"group", "put", "a", "--limt", "3"}).find("did you mean '--limit'?"),
            std::string::npos);
  EXPECT_EQ(tree.refusal({"frobnicate"}),
            "'prog' has no command 'frobnicate': 'prog --help' shows what there is");
}

TEST(Parse, WhatIsMissingIsNamed) {
  Tree tree;
  EXPECT_EQ(tree.refusal({"group"}),
            "'prog group' needs a command, one of put: 'prog group --help' shows what there is");
  EXPECT_NE(tree.refusal({"group", "put"}).find("'prog group put' needs NAME"), std::string::npos);
  EXPECT_NE(tree.refusal({"group", "put", "a", "--limit"}).find("--limit needs a value, N"),
            std::string::npos);
}

TEST(Parse, WhatIsTooMuchIsNamed) {
  Tree tree;
  EXPECT_NE(
      tree.refusal({"go", "there"}).find("'prog go' takes no more arguments, but got 'there'"),
      std::string::npos);
  EXPECT_NE(tree.refusal({"group", "put", "a", "--json=1"}).find("--json takes no value"),
            std::string::npos);
  EXPECT_NE(tree.refusal({"group", "put", "a", "-5"}).find("put '--' before it"),
            std::string::npos);
}

TEST(Parse, ValuesThatDoNotGoTogetherAreRefusedBeforeAnythingRuns) {
  Tree tree;
  EXPECT_EQ(tree.refusal({"group", "put", "a", "-v", "-q"}), "-v and -q do not go together");
}

TEST(Parse, HelpWinsOverWhatIsMissing) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"group", "put", "--help"}, {"group", "put", "-h", "a"}, {"--help", "group", "put"}}) {
    Tree tree;
    const auto parsed = tree.parse(words);
    ASSERT_TRUE(parsed);
    EXPECT_TRUE(parsed->help);
    EXPECT_EQ(parsed->command, tree.put);
  }
}

TEST(Suggest, CountsAddedDroppedChangedAndSwappedLetters) {
  EXPECT_EQ(edit_distance("follow", "follow"), 0u);
  EXPECT_EQ(edit_distance("folow", "follow"), 1u);
  EXPECT_EQ(edit_distance("ofllow", "follow"), 1u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", "xyz"), 3u);
}

TEST(Suggest, SaysNothingWhenNothingIsNear) {
  const std::vector<std::string> words{"create", "append", "read"};
  EXPECT_EQ(nearest("raed", words), "read");
  EXPECT_EQ(nearest("app", words), "append");
  EXPECT_EQ(nearest("crte", words), "create");
  EXPECT_EQ(nearest("zebra", words), "");
  EXPECT_EQ(nearest("x", words), "");
}

}  // namespace
}  // namespace holdfast::cli
