#include "core/log/block.h"

#include <gtest/gtest.h>

#include <holdfast/random.h>

namespace holdfast::core {
namespace {

const BlockKey kKey = BlockKey::make(7, {100});

HotBlock block_of(const std::vector<std::string>& records) {
  HotBlock block{kKey, {.log_first = {40}, .epoch = {3}, .time = {9}, .bytes_before = 1'000}};
  for (const auto& record : records) block.add(record);
  return block;
}

std::vector<Record> decode(BlockKey key, BytesView block, Offset from = {}) {
  const auto header = open_block(key, block);
  EXPECT_TRUE(header.has_value());
  std::vector<Record> out;
  ReadBudget budget{.records = 1'000'000, .bytes = 1u << 30};
  if (header) {
    EXPECT_TRUE(decode_records(key, *header, block.substr(kBlockHeaderBytes), from, budget, out)
                    .has_value());
  }
  return out;
}

TEST(Block, RecordsComeBackWithTheirOffsets) {
  const std::vector<std::string> records{"one", "", std::string(300, 'x'), std::string("a\0b", 3)};
  HotBlock block = block_of(records);
  const auto out = decode(kKey, block.finish());
  ASSERT_EQ(out.size(), records.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    EXPECT_EQ(out[i].offset, Offset{100 + i});
    EXPECT_EQ(out[i].bytes, records[i]);
  }
  EXPECT_EQ(decode(kKey, block.finish(), {102}).size(), 2u);
}

TEST(Block, HeaderSpeaksForTheLog) {
  HotBlock block = block_of({"12345", "678"});
  block.header().closed = true;
  const auto header = open_block(kKey, block.finish());
  ASSERT_TRUE(header.has_value());
  const LogState state = header->state(kKey);
  EXPECT_EQ(state.first, Offset{40});
  EXPECT_EQ(state.tail, Offset{102});
  EXPECT_EQ(state.epoch, Epoch{3});
  EXPECT_TRUE(state.closed);
  EXPECT_EQ(state.bytes, 1'008u);
  EXPECT_EQ(header->time, Timestamp{9});
}

TEST(Block, ExtendingGivesTheSameBytesAsMakingItAtOnce) {
  HotBlock whole = block_of({"a", "b", "c"});
  HotBlock part = block_of({"a", "b"});
  const std::string stored{part.finish()};
  HotBlock again{kKey, *open_block(kKey, stored), stored};
  again.add("c");
  EXPECT_EQ(again.finish(), whole.finish());
}

TEST(Block, TheNextBlockGoesOnWhereThisOneEnds) {
  HotBlock block = block_of({"12345", "678"});
  HotBlock next = block;
  next.advance();
  EXPECT_EQ(next.key(), BlockKey::make(7, {102}));
  EXPECT_EQ(next.state().tail, Offset{102});
  EXPECT_EQ(next.state().bytes, 1'008u);
  EXPECT_TRUE(open_block(next.key(), next.finish()).has_value());
}

TEST(Block, FillsAPageAndNoMore) {
  HotBlock block = block_of({});
  while (block.fits(85)) block.add(std::string(85, 'r'));
  EXPECT_LE(block.bytes(), kHotBlockBytesMax);
  EXPECT_GT(block.bytes() + 90, kHotBlockBytesMax);
  EXPECT_TRUE(block_of({}).fits(kRecordBytesMax)) << "an empty block takes any record";
}

TEST(Block, E2_EveryFlippedBitIsFound) {
  HotBlock block = block_of({"first", "second", std::string(200, 'z')});
  const std::string good{block.finish()};
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(open_block(kKey, bad).has_value()) << "bit " << bit;
  }
}

TEST(Block, E2_AFlippedBitInAPayloadNamesItsRecord) {
  HotBlock block = block_of({"first", "second", "third"});
  std::string bad{block.finish()};
  bad[bad.find("second")] ^= 1;
  const auto header = open_block(kKey, bad);
  ASSERT_FALSE(header.has_value());
  EXPECT_EQ(header.error().record, Offset{101});
}

TEST(Block, ABlockInAnothersPlaceIsFound) {
  HotBlock block = block_of({"first"});
  EXPECT_FALSE(open_block(BlockKey::make(8, {100}), block.finish()).has_value());
  EXPECT_FALSE(open_block(BlockKey::make(7, {101}), block.finish()).has_value());
}

TEST(Block, EveryShorterBlockIsRefused) {
  HotBlock block = block_of({"first", "second"});
  const std::string good{block.finish()};
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(open_block(kKey, BytesView{good}.substr(0, size)).has_value()) << size;
  }
}

TEST(Block, SealedRecordsComeBack) {
  const std::vector<std::string> texts{"one", "", std::string(500, 'y')};
  std::vector<Record> records;
  for (const auto& text : texts) records.push_back({{100 + records.size()}, text});
  std::string raw;
  std::string payloads;
  add_sealed(records, raw, payloads);
  raw += payloads;
  BlockHeader header{
      .count = 3, .raw_bytes = static_cast<std::uint32_t>(raw.size()), .payload_bytes = 503};
  const std::string block = sealed_block(kKey, header, "pretend this is compressed");
  const auto opened = open_block(kKey, block);
  ASSERT_TRUE(opened.has_value());
  EXPECT_TRUE(opened->sealed);
  std::vector<Record> out;
  ReadBudget budget{.records = 10, .bytes = 10'000};
  ASSERT_TRUE(decode_records(kKey, *opened, raw, {101}, budget, out).has_value());
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0].offset, Offset{101});
  EXPECT_EQ(out[1].bytes, texts[2]);
}

TEST(Block, ABudgetEndsAReadButGivesOneRecord) {
  HotBlock block = block_of({"12345", "12345", "12345"});
  const std::string stored{block.finish()};
  const auto header = open_block(kKey, stored);
  for (const auto& [budget_in, count] : {std::pair{ReadBudget{.records = 2, .bytes = 100}, 2u},
                                         std::pair{ReadBudget{.records = 9, .bytes = 11}, 2u},
                                         std::pair{ReadBudget{.records = 0, .bytes = 0}, 1u}}) {
    ReadBudget budget = budget_in;
    std::vector<Record> out;
    ASSERT_TRUE(
        decode_records(kKey, *header, BytesView{stored}.substr(kBlockHeaderBytes), {}, budget, out)
            .has_value());
    EXPECT_EQ(out.size(), count);
    EXPECT_TRUE(budget.spent);
  }
}

TEST(Block, DecodingIsSafeOnAnyBytes) {
  Random random{11};
  HotBlock block = block_of({"first", "second", std::string(200, 'z')});
  const std::string good{block.finish()};
  std::size_t refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string raw = good.substr(kBlockHeaderBytes);
    for (int i = 0; i < 3; ++i) raw[random.below(raw.size())] = static_cast<char>(random.next());
    BlockHeader header = *open_block(kKey, good);
    header.sealed = random.one_in(2);
    header.count = static_cast<std::uint32_t>(random.below(6));
    header.payload_bytes = static_cast<std::uint32_t>(random.below(300));
    std::vector<Record> out;
    ReadBudget budget{.records = 100, .bytes = 1'000};
    if (!decode_records(kKey, header, raw, {}, budget, out)) ++refused;
    for (const Record& record : out) {
      ASSERT_GE(record.bytes.data(), raw.data());
      ASSERT_LE(record.bytes.data() + record.bytes.size(), raw.data() + raw.size());
    }
  }
  EXPECT_GT(refused, 10'000u);
}

}  // namespace
}  // namespace holdfast::core
