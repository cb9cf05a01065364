// The writers' table of a bell: who may commit, so that others notice when one is killed between
// its commit and its ring.
//
// Changes are ordered by a byte-range lock that the kernel drops with its holder. A reader takes no
// lock: a place read while it changes fails the check of its process's start, or the generation
// changes after it, which makes the reader look again.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "store/sqlite/bell.h"

namespace holdfast::store {
namespace {

/// Holds the table of all processes while it lives.
class TableLock {
 public:
  explicit TableLock(int fd) : fd_{fd} { set(F_WRLCK); }
  TableLock(const TableLock&) = delete;
  TableLock& operator=(const TableLock&) = delete;
  ~TableLock() { set(F_UNLCK); }

 private:
  void set(short type) const {
    struct flock range{};
    range.l_type = type;
    range.l_whence = SEEK_SET;
    range.l_len = 1;
    while (::fcntl(fd_, F_OFD_SETLKW, &range) != 0 && errno == EINTR) {
    }
  }
  int fd_;
};

bool is_dead(const ProcessIdentity& process, const ProcessIdentity& self) {
  if (process.pid_namespace != self.pid_namespace) return false;  // cannot be told from here
  if (::kill(static_cast<pid_t>(process.pid), 0) != 0 && errno == ESRCH) return true;
  const std::uint64_t start = process_start_ticks(process.pid);
  return start != 0 && process.start_ticks != 0 && start != process.start_ticks;
}

ProcessIdentity read_place(const WriterPlace& place) {
  return {place.pid.load(), place.start_ticks.load(), place.pid_namespace.load()};
}

void fill(WriterPlace& place, const ProcessIdentity& process) {
  place.start_ticks.store(process.start_ticks);
  place.pid_namespace.store(process.pid_namespace);
  place.pid.store(process.pid);
}

}  // namespace

void Bell::announce_table_change() {
  layout_->generation.fetch_add(1);
  futex_wake(layout_->generation, kWakeAll, true);
  if (layout_->everything_watchers.load() != 0) {
    layout_->everything.fetch_add(1);
    futex_wake(layout_->everything, kWakeAll, true);
  }
}

void Bell::register_writer() {
  if (listed_.load(std::memory_order_acquire)) return;
  const std::lock_guard guard{table_mutex_};
  if (listed_.load(std::memory_order_relaxed)) return;
  const ProcessIdentity self = ProcessIdentity::self();
  {
    const TableLock lock{fd_};
    auto& places = layout_->writers;
    std::size_t found = places.size();
    for (std::size_t i = 0; i < places.size() && found == places.size(); ++i) {
      if (places[i].pid.load() == 0) found = i;
    }
    for (std::size_t i = 0; i < places.size() && found == places.size(); ++i) {
      if (!is_dead(read_place(places[i]), self)) continue;
      layout_->deaths.fetch_add(1);
      places[i].pid.store(0);
      found = i;
    }
    if (found == places.size()) {
      layout_->unlisted.store(1);
    } else {
      fill(places[found], self);
    }
    own_ = {found, self};
  }
  announce_table_change();
  listed_.store(true, std::memory_order_release);
}

std::vector<ListedWriter> Bell::writers() const {
  std::vector<ListedWriter> found;
  for (std::size_t i = 0; i < layout_->writers.size(); ++i) {
    const ProcessIdentity process = read_place(layout_->writers[i]);
    if (process.pid != 0) found.push_back({i, process});
  }
  return found;
}

bool Bell::reap(const ListedWriter& dead) {
  const std::lock_guard guard{table_mutex_};
  {
    const TableLock lock{fd_};
    WriterPlace& place = layout_->writers[dead.place];
    if (read_place(place) != dead.process) return false;
    layout_->deaths.fetch_add(1);  // first: who finds the place cleared finds the death, too
    place.pid.store(0);
  }
  announce_table_change();
  return true;
}

Bell::~Bell() {
  if (listed_.load() && own_.place < kWriterPlaces) {
    {
      const TableLock lock{fd_};
      WriterPlace& place = layout_->writers[own_.place];
      if (read_place(place) == own_.process) place.pid.store(0);
    }
    announce_table_change();
  }
  ::munmap(layout_, sizeof(BellLayout));
  ::close(fd_);
}

}  // namespace holdfast::store
