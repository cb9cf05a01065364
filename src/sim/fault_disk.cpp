#include "sim/fault_disk.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <holdfast/check.h>

namespace holdfast::sim {
namespace {

constexpr std::size_t kSectorBytes = 512;

std::size_t index_of(Call call) { return static_cast<std::size_t>(call); }

bool can_strike(Fault fault, Call call) {
  switch (fault) {
    case Fault::kNone: return false;
    case Fault::kCut: return call != Call::kRead;
    case Fault::kTear: return call == Call::kWrite;
    case Fault::kDiskFull: return call == Call::kWrite || call == Call::kCreate;
    case Fault::kSyncFails: return call == Call::kSync;
    case Fault::kWriteFails:
      return call == Call::kWrite || call == Call::kTruncate || call == Call::kMap;
    case Fault::kReadFails: return call == Call::kRead;
  }
  return false;
}

struct Change {
  enum class Kind : std::uint8_t { kWrite, kTruncate };
  Kind kind{};
  std::uint64_t at = 0;  // offset, or new size
  std::string bytes{};
  std::uint64_t moment = 0;
};

void put_down(std::string& content, const Change& change) {
  if (change.kind == Change::Kind::kTruncate) {
    content.resize(change.at);
    return;
  }
  const std::uint64_t end = change.at + change.bytes.size();
  if (content.size() < end) content.resize(end);
  content.replace(change.at, change.bytes.size(), change.bytes);
}

}  // namespace

class FaultDisk::File {
 public:
  std::string live;
  std::string durable;
  std::vector<Change> pending;
  std::uint64_t made_at = 0;  // moment of creation
  bool made_durable = false;  // its name survives a power loss
};

std::string_view fault_name(Fault fault) {
  switch (fault) {
    case Fault::kNone: return "none";
    case Fault::kCut: return "cut";
    case Fault::kTear: return "torn write";
    case Fault::kDiskFull: return "disk full";
    case Fault::kSyncFails: return "failed sync";
    case Fault::kWriteFails: return "failed write";
    case Fault::kReadFails: return "failed read";
  }
  return "?";
}

std::string_view loss_name(Loss loss) {
  switch (loss) {
    case Loss::kProcess: return "process killed";
    case Loss::kDropped: return "power lost, unsynced dropped";
    case Loss::kPrefix: return "power lost, unsynced cut";
    case Loss::kScattered: return "power lost, unsynced scattered";
  }
  return "?";
}

// --- Faults -------------------------------------------------------------------------------------

void FaultDisk::plan(Fault fault, std::uint64_t at) {
  const std::lock_guard lock{mutex_};
  fault_ = fault;
  at_ = at;
  struck_ = false;
  calls_ = {};
}

std::uint64_t FaultDisk::calls(Fault fault) const {
  const std::lock_guard lock{mutex_};
  std::uint64_t sum = 0;
  for (const Call call : {Call::kCreate, Call::kDelete, Call::kRead, Call::kWrite, Call::kTruncate,
                          Call::kSync, Call::kMap}) {
    if (can_strike(fault, call)) sum += calls_[index_of(call)];
  }
  return sum;
}

std::uint64_t FaultDisk::calls() const {
  const std::lock_guard lock{mutex_};
  std::uint64_t sum = 0;
  for (const std::uint64_t count : calls_) sum += count;
  return sum;
}

bool FaultDisk::struck() const {
  const std::lock_guard lock{mutex_};
  return struck_;
}

bool FaultDisk::dead() const {
  const std::lock_guard lock{mutex_};
  return dead_;
}

void FaultDisk::make_space() {
  const std::lock_guard lock{mutex_};
  full_ = false;
}

Verdict FaultDisk::judge(Call call, bool grows) {
  if (dead_) return Verdict::kDead;
  ++calls_[index_of(call)];
  ++moment_;
  if (!struck_ && can_strike(fault_, call) && --at_ == 0) {
    struck_ = true;
    switch (fault_) {
      case Fault::kCut:
      case Fault::kTear: dead_ = true; return Verdict::kDead;
      case Fault::kDiskFull: full_ = true; return Verdict::kFull;
      default: return Verdict::kFail;
    }
  }
  return full_ && grows ? Verdict::kFull : Verdict::kGoOn;
}

void FaultDisk::crash(Loss loss, Random& random) {
  const std::lock_guard lock{mutex_};
  ++life_;
  if (loss != Loss::kProcess) after_power_loss(loss, random);
  // Whoever still holds a file of the last life holds its own copy.
  for (auto& [name, file] : files_) {
    auto next = std::make_shared<File>();
    next->live = file->live;
    next->durable = loss == Loss::kProcess ? file->durable : file->live;
    if (loss == Loss::kProcess) next->pending = file->pending;
    next->made_at = file->made_at;
    next->made_durable = file->made_durable || loss != Loss::kProcess;
    file = std::move(next);
  }
  dead_ = false;
  full_ = false;
  fault_ = Fault::kNone;
}

void FaultDisk::after_power_loss(Loss loss, Random& random) {
  const std::uint64_t cut = random.below(moment_ + 1);
  const auto survives = [&](std::uint64_t moment) {
    if (loss == Loss::kPrefix) return moment <= cut;
    return loss == Loss::kScattered && random.one_in(2);
  };
  for (const Deleted& deleted : deleted_) {
    if (deleted.file->made_durable && !survives(deleted.moment)) {
      files_.try_emplace(deleted.name, deleted.file);
    }
  }
  deleted_.clear();
  for (auto at = files_.begin(); at != files_.end();) {
    File& file = *at->second;
    if (!file.made_durable && !survives(file.made_at)) {
      at = files_.erase(at);
      continue;
    }
    std::string left = file.durable;
    for (Change& change : file.pending) {
      if (!survives(change.moment)) continue;
      if (loss == Loss::kScattered && change.kind == Change::Kind::kWrite && random.one_in(4)) {
        const std::size_t sectors = change.bytes.size() / kSectorBytes;
        change.bytes.resize(kSectorBytes * random.below(sectors + 1));
      }
      put_down(left, change);
    }
    file.live = std::move(left);
    file.pending.clear();
    ++at;
  }
}

// --- Files --------------------------------------------------------------------------------------

bool FaultDisk::exists(const std::string& name) const {
  const std::lock_guard lock{mutex_};
  return files_.contains(name);
}

std::shared_ptr<FaultDisk::File> FaultDisk::open(const std::string& name, bool create,
                                                 Verdict& verdict) {
  const std::lock_guard lock{mutex_};
  verdict = dead_ ? Verdict::kDead : Verdict::kGoOn;
  if (dead_) return nullptr;
  if (const auto it = files_.find(name); it != files_.end()) return it->second;
  if (!create) return nullptr;
  verdict = judge(Call::kCreate, true);
  if (verdict != Verdict::kGoOn) return nullptr;
  auto file = std::make_shared<File>();
  file->made_at = moment_;
  files_.emplace(name, file);
  return file;
}

Verdict FaultDisk::remove(const std::string& name, bool durably) {
  const std::lock_guard lock{mutex_};
  const auto it = files_.find(name);
  if (it == files_.end()) return dead_ ? Verdict::kDead : Verdict::kGoOn;
  const Verdict verdict = judge(Call::kDelete, false);
  if (verdict != Verdict::kGoOn) return verdict;
  if (!durably) deleted_.push_back({name, it->second, moment_});
  files_.erase(it);
  return verdict;
}

Verdict FaultDisk::read(File& file, char* to, std::size_t size, std::uint64_t at,
                        std::size_t& got) {
  const std::lock_guard lock{mutex_};
  const Verdict verdict = judge(Call::kRead, false);
  if (verdict != Verdict::kGoOn) return verdict;
  const std::uint64_t there = file.live.size();
  got = at >= there ? 0 : static_cast<std::size_t>(std::min<std::uint64_t>(size, there - at));
  if (got > 0) std::memcpy(to, file.live.data() + at, got);
  std::memset(to + got, 0, size - got);
  return verdict;
}

Verdict FaultDisk::write(File& file, std::string_view bytes, std::uint64_t at) {
  const std::lock_guard lock{mutex_};
  const bool was_dead = dead_;
  const Verdict verdict = judge(Call::kWrite, at + bytes.size() > file.live.size());
  const bool torn = fault_ == Fault::kTear && verdict == Verdict::kDead && !was_dead;
  if (verdict != Verdict::kGoOn && !torn) return verdict;
  // A torn write leaves its first half, cut inside a sector.
  if (torn) bytes = bytes.substr(0, bytes.size() / 2 + 1);
  Change change{Change::Kind::kWrite, at, std::string{bytes}, moment_};
  put_down(file.live, change);
  file.pending.push_back(std::move(change));
  return verdict;
}

Verdict FaultDisk::truncate(File& file, std::uint64_t size) {
  const std::lock_guard lock{mutex_};
  const Verdict verdict = judge(Call::kTruncate, size > file.live.size());
  if (verdict != Verdict::kGoOn) return verdict;
  Change change{Change::Kind::kTruncate, size, {}, moment_};
  put_down(file.live, change);
  file.pending.push_back(std::move(change));
  return verdict;
}

Verdict FaultDisk::sync(File& file) {
  const std::lock_guard lock{mutex_};
  const Verdict verdict = judge(Call::kSync, false);
  if (verdict == Verdict::kGoOn) {
    for (const Change& change : file.pending) put_down(file.durable, change);
    deleted_.clear();
    for (auto& [name, other] : files_) other->made_durable = true;
  }
  if (verdict != Verdict::kDead) file.pending.clear();
  return verdict;
}

Verdict FaultDisk::map() {
  const std::lock_guard lock{mutex_};
  return judge(Call::kMap, true);
}

std::uint64_t FaultDisk::size(const File& file) const {
  const std::lock_guard lock{mutex_};
  return file.live.size();
}

std::uint64_t FaultDisk::life() const {
  const std::lock_guard lock{mutex_};
  return life_;
}

}  // namespace holdfast::sim
