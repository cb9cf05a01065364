// The faults themselves, on plain SQLite: what it promises holds at every point, and without its
// syncs it would not (so the faults bite).
#include "sim/fault_vfs.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <string>
#include <thread>
#include <vector>

namespace holdfast::sim {
namespace {

class Connection {
 public:
  Connection(FaultVfs& vfs, const char* synchronous) {
    code_ = sqlite3_open_v2("test.db", &db_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                            vfs.name().c_str());
    run("PRAGMA journal_mode=WAL");
    run(std::string{"PRAGMA synchronous="} + synchronous);
    run("PRAGMA wal_autocheckpoint=8");
    run("CREATE TABLE IF NOT EXISTS t(n INTEGER PRIMARY KEY, filler BLOB)");
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { sqlite3_close(db_); }

  bool run(const std::string& sql) {
    if (code_ == SQLITE_OK) last_ = sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr);
    return code_ == SQLITE_OK && last_ == SQLITE_OK;
  }
  bool insert(int n) {
    return run("INSERT INTO t VALUES(" + std::to_string(n) + ", randomblob(3000))");
  }
  [[nodiscard]] int last() const { return last_; }

  // Rows 0 to the returned number, less one; -1 if there is a hole or the file is damaged.
  int count() {
    int rows = 0;
    int max = -1;
    bool sound = false;
    const auto each = [&](const char* sql, auto&& take) {
      sqlite3_stmt* statement = nullptr;
      if (sqlite3_prepare_v2(db_, sql, -1, &statement, nullptr) != SQLITE_OK) return;
      if (sqlite3_step(statement) == SQLITE_ROW) take(statement);
      sqlite3_finalize(statement);
    };
    each("SELECT count(*), max(n) FROM t WHERE length(filler)=3000", [&](sqlite3_stmt* row) {
      rows = sqlite3_column_int(row, 0);
      max = rows > 0 ? sqlite3_column_int(row, 1) : -1;
    });
    each("PRAGMA integrity_check", [&](sqlite3_stmt* row) {
      const auto* text = sqlite3_column_text(row, 0);
      sound = text != nullptr && std::string{reinterpret_cast<const char*>(text)} == "ok";
    });
    return sound && max + 1 == rows ? rows : -1;
  }

 private:
  sqlite3* db_ = nullptr;
  int code_ = SQLITE_OK;
  int last_ = SQLITE_OK;
};

constexpr int kInserts = 24;

// Inserts until something fails; how many were acknowledged.
int insert_all(FaultVfs& vfs, const char* synchronous) {
  Connection db{vfs, synchronous};
  for (int n = 0; n < kInserts; ++n) {
    if (!db.insert(n)) return n;
  }
  return kInserts;
}

struct Tally {
  int points = 0;
  int lost = 0;     // less than acknowledged
  int damaged = 0;  // a hole, or not a database any more
  int beyond = 0;   // more than acknowledged and one in flight
};

Tally enumerate(Fault fault, Loss loss, const char* synchronous) {
  Tally tally;
  for (std::uint64_t at = 1;; ++at) {
    FaultVfs vfs;
    Random random{at};
    vfs.disk().plan(fault, at);
    const int acknowledged = insert_all(vfs, synchronous);
    if (!vfs.disk().struck()) return tally;
    vfs.crash(loss, random);
    Connection db{vfs, synchronous};
    const int found = db.count();
    ++tally.points;
    if (found < 0) {
      ++tally.damaged;
    } else {
      tally.lost += found < acknowledged ? 1 : 0;
      tally.beyond += found > acknowledged + 1 ? 1 : 0;
    }
  }
}

TEST(FaultVfs, WorksAsAFileSystemWhenNothingFails) {
  FaultVfs vfs;
  EXPECT_EQ(insert_all(vfs, "FULL"), kInserts);
  Connection again{vfs, "FULL"};
  EXPECT_EQ(again.count(), kInserts);
}

TEST(FaultVfs, KeepsLocksBetweenConnections) {
  FaultVfs vfs;
  Connection one{vfs, "FULL"};
  Connection two{vfs, "FULL"};
  ASSERT_TRUE(one.run("BEGIN IMMEDIATE"));
  EXPECT_FALSE(two.run("BEGIN IMMEDIATE"));
  EXPECT_EQ(two.last(), SQLITE_BUSY);
  ASSERT_TRUE(one.insert(0));
  EXPECT_EQ(two.count(), 0);  // readers see what is committed
  ASSERT_TRUE(one.run("COMMIT"));
  EXPECT_EQ(two.count(), 1);
  EXPECT_TRUE(two.insert(1));
}

TEST(FaultVfs, CarriesManyWritersAtOnce) {
  FaultVfs vfs;
  {
    const Connection first{vfs, "FULL"};
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Connection db{vfs, "FULL"};
      db.run("PRAGMA busy_timeout=20000");
      for (int i = 0; i < 25; ++i) EXPECT_TRUE(db.insert(t * 25 + i)) << db.last();
    });
  }
  for (std::thread& thread : threads) thread.join();
  Connection db{vfs, "FULL"};
  EXPECT_EQ(db.count(), 100);
}

TEST(FaultVfs, LosesNothingAcknowledgedThatWasSynced) {
  int points = 0;
  for (const Fault fault : {Fault::kCut, Fault::kTear}) {
    for (const Loss loss : kAllLosses) {
      SCOPED_TRACE(testing::Message() << fault_name(fault) << ", " << loss_name(loss));
      const Tally tally = enumerate(fault, loss, "FULL");
      EXPECT_GT(tally.points, 50);
      EXPECT_EQ(tally.lost, 0);
      EXPECT_EQ(tally.damaged, 0);
      EXPECT_EQ(tally.beyond, 0);
      points += tally.points;
    }
  }
  RecordProperty("points", points);
}

TEST(FaultVfs, LosesTheLastMomentsButTearsNothingWithFewerSyncs) {
  const Tally killed = enumerate(Fault::kCut, Loss::kProcess, "NORMAL");
  EXPECT_EQ(killed.lost + killed.damaged + killed.beyond, 0);
  const Tally power = enumerate(Fault::kCut, Loss::kScattered, "NORMAL");
  EXPECT_GT(power.lost, 0);
  EXPECT_EQ(power.damaged + power.beyond, 0);
}

TEST(FaultVfs, DamagesAFileThatIsNeverSynced) {
  EXPECT_GT(enumerate(Fault::kCut, Loss::kScattered, "OFF").damaged, 0);
}

TEST(FaultVfs, FillsUpUntilThereIsSpace) {
  FaultVfs vfs;
  Connection db{vfs, "FULL"};
  ASSERT_TRUE(db.insert(0));
  vfs.disk().plan(Fault::kDiskFull, 1);
  EXPECT_FALSE(db.insert(1));
  EXPECT_EQ(db.last(), SQLITE_FULL);
  EXPECT_TRUE(vfs.disk().struck());
  EXPECT_EQ(db.count(), 1);
  vfs.disk().make_space();
  EXPECT_TRUE(db.insert(1));
  EXPECT_EQ(db.count(), 2);
}

TEST(FaultVfs, ForgetsWhatAFailedSyncWasToKeep) {
  FaultVfs vfs;
  Random random{1};
  {
    Connection db{vfs, "FULL"};
    ASSERT_TRUE(db.insert(0));
    vfs.disk().plan(Fault::kSyncFails, 1);
    EXPECT_FALSE(db.insert(1));
    EXPECT_EQ(db.last(), SQLITE_IOERR);
  }
  vfs.crash(Loss::kDropped, random);
  Connection db{vfs, "FULL"};
  EXPECT_EQ(db.count(), 1);
}

TEST(FaultVfs, FailsOneReadOrWriteAndGoesOn) {
  for (const Fault fault : {Fault::kWriteFails, Fault::kReadFails}) {
    FaultVfs vfs;
    {
      Connection db{vfs, "FULL"};
      for (int n = 0; n < kInserts; ++n) ASSERT_TRUE(db.insert(n));
    }
    Connection db{vfs, "FULL"};
    vfs.disk().plan(fault, 1);
    if (fault == Fault::kReadFails) {
      EXPECT_NE(db.count(), kInserts);
    } else {
      EXPECT_FALSE(db.insert(kInserts));
    }
    EXPECT_TRUE(vfs.disk().struck());
    EXPECT_TRUE(db.insert(kInserts));
    EXPECT_EQ(db.count(), kInserts + 1);
  }
}

}  // namespace
}  // namespace holdfast::sim
