#include <gtest/gtest.h>

#include <holdfast/store.h>

namespace holdfast {
namespace {

TEST(MemoryStore, GivesBackWhatWasCommitted) {
  const auto store = make_memory_store();
  const Batch batch{.home = "stream/a",
                    .creates = {{.log = "data"}},
                    .appends = {{.log = "data", .records = {"one", "two"}}},
                    .puts = {{.space = "meta", .key = "a", .value = "v"}}};
  const auto committed = store->commit(batch);
  ASSERT_TRUE(committed) << committed.error().message;
  EXPECT_EQ(committed->appends.at(0).next.value, 2u);
  const auto records = store->read({"stream/a", "data"}, Offset{1});
  ASSERT_TRUE(records) << records.error().message;
  ASSERT_EQ(records->items.size(), 1u);
  EXPECT_EQ(records->items[0].bytes, "two");
  EXPECT_TRUE(records->at_tail);
  EXPECT_EQ((*store->get("meta", "a"))->version, committed->row_versions.at(0));
}

}  // namespace
}  // namespace holdfast
