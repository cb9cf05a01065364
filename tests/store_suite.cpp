#include "store_suite.h"

#include <string>

#include <holdfast/sqlite_store.h>

#include "sim/temp_dir.h"

namespace holdfast::suite {
namespace {

class MemoryUnderTest final : public StoreUnderTest {
 public:
  [[nodiscard]] Store& store() override { return *store_; }

 private:
  std::unique_ptr<Store> store_ = make_memory_store(clock);
};

class SqliteUnderTest final : public StoreUnderTest {
 public:
  explicit SqliteUnderTest(Durability durability) : durability_{durability} { store_ = open(); }

  [[nodiscard]] Store& store() override { return *store_; }
  std::unique_ptr<Store> open_another() override { return open(); }
  bool reopen() override {
    store_.reset();
    store_ = open();
    return true;
  }
  std::string maintain(std::uint64_t turn) override {
    if (turn % 3 == 0) ok(store_->seal());
    if (turn % 3 == 1) ok(store_->compact());
    const CheckReport report = ok(store_->check());
    return report.faults.empty() ? std::string{} : "check found: " + report.faults.front();
  }

 private:
  std::unique_ptr<SqliteStore> open() {
    return ok(
        open_sqlite_store(dir_.file("store.db"), {.durability = durability_, .clock = &clock}));
  }

  sim::TempDir dir_;
  Durability durability_;
  std::unique_ptr<SqliteStore> store_;
};

}  // namespace

std::vector<StoreKind> store_kinds() {
  std::vector<StoreKind> kinds;
  kinds.push_back({"Memory", [] { return std::make_unique<MemoryUnderTest>(); }});
  kinds.push_back(
      {"SqliteFull", [] { return std::make_unique<SqliteUnderTest>(Durability::kFull); }});
  kinds.push_back(
      {"SqliteRelaxed", [] { return std::make_unique<SqliteUnderTest>(Durability::kRelaxed); }});
  return kinds;
}

void StoreSuite::fill(std::size_t count, std::size_t per_batch, const std::string& log) {
  ok(store().commit({.home = kHome, .creates = {{.log = log, .if_missing = true}}}));
  for (std::size_t at = 0; at < count;) {
    std::vector<std::string> texts;
    for (; texts.size() < per_batch && at < count; ++at) texts.push_back(std::to_string(at));
    append({texts.begin(), texts.end()}, log);
  }
}

}  // namespace holdfast::suite
