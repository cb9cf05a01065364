#include "core/stream/record.h"

#include <gtest/gtest.h>

#include <holdfast/random.h>

#include "core/stream/import_mark.h"

namespace holdfast::core {
namespace {

StreamRecord full_record() {
  Random random{3};
  StreamRecord record;
  record.id = Ulid::make(1'700'000'000'000, random);
  record.content_type = "application/json; charset=utf-8";
  record.ttl = std::chrono::seconds{3'600};
  record.created = {1'700'000'000'000};
  record.source = "a/b";
  record.source_id = Ulid::make(5, random);
  record.fork_at = {77};
  record.sub_offset = 3;
  record.base = {80};
  record.segments = {{"root", Ulid::make(1, random), Offset{40}},
                     {"a/b", record.source_id, Offset{80}}};
  record.first = {12};
  record.retention = {.chunks_max = 5, .bytes_max = 0, .age_max = std::chrono::milliseconds{9}};
  record.forks = 2;
  record.deleted = true;
  return record;
}

TEST(StreamRecord, RowAndBackIsTheSame) {
  const StreamRecord record = full_record();
  const auto back = decode_record(encode_record(record));
  ASSERT_TRUE(back.has_value()) << back.error().message;
  EXPECT_EQ(encode_record(*back), encode_record(record));
  EXPECT_EQ(back->segments, record.segments);
  EXPECT_EQ(back->retention, record.retention);
  EXPECT_EQ(back->ttl, record.ttl);
  EXPECT_FALSE(back->expires_at.has_value());
  EXPECT_EQ(back->first, record.first);
  EXPECT_TRUE(back->deleted);
  const auto plain = decode_record(encode_record(StreamRecord{}));
  ASSERT_TRUE(plain.has_value());
  EXPECT_TRUE(plain->segments.empty());
}

TEST(StreamRecord, E2_CutOrOverlongRowsAreNamedAndNeverRead) {
  const Bytes good = encode_record(full_record());
  for (std::size_t cut = 0; cut < good.size(); ++cut)
    EXPECT_FALSE(decode_record(good.substr(0, cut)).has_value()) << cut;
  EXPECT_EQ(decode_record(good + "x").error().code, ErrorCode::kCorrupt);
  Random random{9};
  for (int i = 0; i < 5'000; ++i) {
    Bytes bent = good;
    bent[1 + random.below(bent.size() - 1)] ^= static_cast<char>(1 + random.below(255));
    if (const auto read = decode_record(bent); read) {
      EXPECT_LE(read->segments.size(), kSegmentsMax);
    }
  }
}

TEST(StreamRecord, ANewerRowIsRefusedAsNewer) {
  Bytes newer = encode_record(full_record());
  newer[0] = 2;
  EXPECT_EQ(decode_record(newer).error().code, ErrorCode::kSchema);
}

TEST(StreamRecord, AStreamMadeAgainHasAnotherLog) {
  Random random{1};
  const LogKey one = stream_log("s", Ulid::make(1, random));
  const LogKey two = stream_log("s", Ulid::make(1, random));
  EXPECT_EQ(one.home, "stream/s");
  EXPECT_EQ(two.home, one.home);
  EXPECT_NE(two.log, one.log);
}

TEST(ImportMark, RowAndBackIsTheSame) {
  const ImportMark mark{1, 2, ~std::uint64_t{0}, 4, true, false};
  EXPECT_EQ(*decode_import_mark(encode_import_mark(mark)), mark);
  EXPECT_FALSE(decode_import_mark("").has_value());
  EXPECT_FALSE(decode_import_mark(encode_import_mark(mark).substr(0, 5)).has_value());
}

}  // namespace
}  // namespace holdfast::core
