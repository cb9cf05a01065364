// `store info|check|seal|compact|backup`: looking after the store's file.
#include <string>

#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/context.h"
#include "cli/output/table.h"
#include "cli/output/text.h"

namespace holdfast::cli {
namespace {

// A meter and the function that feeds it. Without a unit amounts are bytes.
struct Shown {
  Shown(Context& context, std::string doing, bool asked, std::string unit)
      : meter{context.err(), context.err_style(), context.meter_mode(asked), std::move(doing),
              std::move(unit)} {}
  Progress progress() {
    return [this](std::uint64_t done, std::uint64_t total) { meter.update(done, total); };
  }
  ProgressMeter meter;
};

std::uint64_t bytes_on_disk(const StoreInfo& info) { return info.file_bytes + info.wal_bytes; }

std::string change_text(std::uint64_t before, std::uint64_t after) {
  std::string text = fmt::format("{} → {}", bytes_text(before), bytes_text(after));
  if (before > 0) {
    text +=
        fmt::format(" ({:.0f} %)", static_cast<double>(after) * 100 / static_cast<double>(before));
  }
  return text;
}

class StoreCommand : public Command {
 protected:
  StoreCommand(std::string name, std::string summary)
      : Command{std::move(name), std::move(summary)} {}
  void progress_flag() {
    flag("--progress", "Say how far it is every few seconds, also when not on a terminal.", asked_);
  }
  bool asked_ = false;
};

class Info final : public StoreCommand {
 public:
  Info() : StoreCommand{"info", "Show what the store holds and takes"} {
    example("Look at a store", "holdfast --store prod.db store info");
  }

  Result<int> run(Context& context) override {
    auto opened = context.open(Access::kRead);
    if (!opened) return fail(std::move(opened.error()));
    auto info = opened->store->info();
    if (!info) return fail(std::move(info.error()));
    if (context.json()) {
      JsonObject object;
      object.add("path", info->path).add("schemaVersion", info->schema_version);
      object.add("fileBytes", info->file_bytes).add("walBytes", info->wal_bytes);
      object.add("freeBytes", info->free_bytes).add("logs", info->logs).add("rows", info->rows);
      context.out().write(object.line());
      return 0;
    }
    Properties shown;
    shown.add("path", info->path);
    shown.add("schema", std::to_string(info->schema_version));
    shown.add("file", bytes_text(info->file_bytes));
    shown.add("write-ahead log", bytes_text(info->wal_bytes));
    shown.add("free inside",
              fmt::format("{}{}", bytes_text(info->free_bytes),
                          info->free_bytes > 0 ? ", given back by `store compact`" : ""));
    shown.add("logs", count_text(info->logs));
    shown.add("rows", count_text(info->rows));
    context.out().write(shown.text(context.out_style()));
    return 0;
  }
};

class Check final : public StoreCommand {
 public:
  Check() : StoreCommand{"check", "Read everything and name what is damaged"} {
    describe(
        "Reads every record and row, beside readers and writers: checksums, that offsets are "
        "dense, and SQLite's own integrity check. Ends with status 10 if anything is wrong.");
    progress_flag();
    example("Check a store before copying it", "holdfast --store prod.db store check");
  }

  Result<int> run(Context& context) override {
    auto opened = context.open(Access::kRead);
    if (!opened) return fail(std::move(opened.error()));
    Shown shown{context, "check " + context.store_path(), asked_, "record"};
    auto report = opened->store->check(shown.progress());
    shown.meter.clear();
    if (!report) return fail(std::move(report.error()));
    const bool sound = report->faults.empty();
    const std::string looked_at =
        fmt::format("{}, {}, {}", count_of(report->logs, "log"),
                    count_of(report->records, "record"), count_of(report->rows, "row"));
    if (context.json()) {
      JsonObject object;
      object.add("sound", sound).add("logs", report->logs).add("records", report->records);
      object.add("rows", report->rows).add("faults", report->faults);
      context.out().write(object.line());
    } else if (sound) {
      context.out().write(fmt::format("{}: {}\n", context.out_style().green("sound"), looked_at));
    } else {
      for (const std::string& fault : report->faults) {
        context.out().write(fmt::format("{} {}\n", context.out_style().red("fault:"), fault));
      }
    }
    context.out().flush();
    if (sound) return 0;
    return fail(
        ErrorCode::kCorrupt,
        fmt::format("{} has {} in {}: restore a backup, or export what can still be read",
                    context.store_path(), count_of(report->faults.size(), "fault"), looked_at));
  }
};

class Seal final : public StoreCommand {
 public:
  Seal() : StoreCommand{"seal", "Compress what is past the hot tail of every log"} {
    describe(
        "It happens in the background by itself, beside readers and writers; this does it now. "
        "The space becomes free inside the file: `store compact` gives it back.");
    progress_flag();
    example("Seal, then shrink the file", "holdfast store seal && holdfast store compact");
  }

  Result<int> run(Context& context) override {
    auto opened = context.open(Access::kWrite);
    if (!opened) return fail(std::move(opened.error()));
    Shown shown{context, "seal " + context.store_path(), asked_, "log"};
    auto report = opened->store->seal(shown.progress());
    shown.meter.clear();
    if (!report) return fail(std::move(report.error()));
    JsonObject object;
    object.add("logs", report->logs).add("records", report->records);
    object.add("bytesBefore", report->bytes_before).add("bytesAfter", report->bytes_after);
    context.report(report->records == 0
                       ? std::string{"nothing to seal"}
                       : fmt::format("sealed {} of {}: {}", count_of(report->records, "record"),
                                     count_of(report->logs, "log"),
                                     change_text(report->bytes_before, report->bytes_after)),
                   object);
    return 0;
  }
};

class Compact final : public StoreCommand {
 public:
  Compact() : StoreCommand{"compact", "Give free space back to the file system"} {
    describe("Empties the write-ahead log and moves what is left together.");
    progress_flag();
    example("Shrink a store", "holdfast --store prod.db store compact");
  }

  Result<int> run(Context& context) override {
    auto opened = context.open(Access::kWrite);
    if (!opened) return fail(std::move(opened.error()));
    auto before = opened->store->info();
    if (!before) return fail(std::move(before.error()));
    Shown shown{context, "compact " + context.store_path(), asked_, "page"};
    auto done = opened->store->compact(shown.progress());
    shown.meter.clear();
    if (!done) return fail(std::move(done.error()));
    auto after = opened->store->info();
    if (!after) return fail(std::move(after.error()));
    JsonObject object;
    object.add("bytesBefore", bytes_on_disk(*before)).add("bytesAfter", bytes_on_disk(*after));
    context.report(fmt::format("compacted {}: {}", context.store_path(),
                               change_text(bytes_on_disk(*before), bytes_on_disk(*after))),
                   object);
    return 0;
  }
};

class Backup final : public StoreCommand {
 public:
  Backup() : StoreCommand{"backup", "Write a consistent copy while the store is in use"} {
    describe(
        "The copy is a store of its own: open it, or put it in the place of a damaged one. FILE "
        "must not exist.");
    argument("FILE", "Where the copy goes.", file_).completes = Completes::kFile;
    progress_flag();
    example("Tonight's copy", "holdfast --store prod.db store backup prod-$(date +%F).db");
  }

  Result<int> run(Context& context) override {
    auto opened = context.open(Access::kRead);
    if (!opened) return fail(std::move(opened.error()));
    Shown shown{context, "backup to " + file_, asked_, "page"};
    auto done = opened->store->backup(file_, shown.progress());
    shown.meter.clear();
    if (!done) return fail(std::move(done.error()));
    auto before = opened->store->info();
    if (!before) return fail(std::move(before.error()));
    auto copy = open_sqlite_store(file_, {.must_exist = true, .background_seal = false});
    if (!copy) return fail(std::move(copy.error()));
    auto after = (*copy)->info();
    if (!after) return fail(std::move(after.error()));
    JsonObject object;
    object.add("path", file_);
    object.add("bytesBefore", bytes_on_disk(*before)).add("bytesAfter", bytes_on_disk(*after));
    context.report(fmt::format("wrote {}: {}", file_,
                               change_text(bytes_on_disk(*before), bytes_on_disk(*after))),
                   object);
    return 0;
  }

 private:
  std::string file_;
};

}  // namespace

CommandPtr store_info_command() { return std::make_unique<Info>(); }
CommandPtr store_check_command() { return std::make_unique<Check>(); }
CommandPtr store_seal_command() { return std::make_unique<Seal>(); }
CommandPtr store_compact_command() { return std::make_unique<Compact>(); }
CommandPtr store_backup_command() { return std::make_unique<Backup>(); }

}  // namespace holdfast::cli
