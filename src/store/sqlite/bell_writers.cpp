// The writers' table of a bell: who may commit, so that others notice when one is killed between
// its commit and its ring.
//
// Two kinds of locks on bytes of the file, which the kernel drops with their holder however it ends
// (they belong to the open file, so a store opened twice in one process counts twice):
//
//   byte 0          held while the table is changed
//   byte 1 + i      held by the writer of place i for as long as he has it
//
// A reader takes no lock: tickets tell one taking of a place from the next, and the generation
// changes after each change, which makes readers look again.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "store/sqlite/bell.h"

namespace holdfast::store {
namespace {

constexpr off_t kTableByte = 0;
off_t byte_of_place(std::size_t place) { return 1 + static_cast<off_t>(place); }

struct flock one_byte(short type, off_t at) {
  struct flock range{};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = at;
  range.l_len = 1;
  return range;
}

/// Holds the table, against all processes, while it lives.
class TableLock {
 public:
  explicit TableLock(int fd) : fd_{fd} {
    struct flock range = one_byte(F_WRLCK, kTableByte);
    while (::fcntl(fd_, F_OFD_SETLKW, &range) != 0 && errno == EINTR) {
    }
  }
  TableLock(const TableLock&) = delete;
  TableLock& operator=(const TableLock&) = delete;
  ~TableLock() {
    struct flock range = one_byte(F_UNLCK, kTableByte);
    ::fcntl(fd_, F_OFD_SETLK, &range);
  }

 private:
  int fd_;
};

bool take_byte(int fd, std::size_t place) {
  struct flock range = one_byte(F_WRLCK, byte_of_place(place));
  return ::fcntl(fd, F_OFD_SETLK, &range) == 0;
}

bool held_by_another(int fd, std::size_t place) {
  struct flock range = one_byte(F_WRLCK, byte_of_place(place));
  return ::fcntl(fd, F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK;
}

ListedWriter read_place(const BellLayout& layout, std::size_t place) {
  const WriterPlace& at = layout.writers[place];
  return {place, at.pid.load(), at.pid_namespace.load(), at.ticket.load()};
}

}  // namespace

std::uint64_t own_pid_namespace() {
  struct stat status{};
  return ::stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

void Bell::announce_table_change() {
  layout_->generation.fetch_add(1);
  futex_wake(layout_->generation, kWakeAll, true);
  if (layout_->everything_watchers.load() != 0) {
    layout_->everything.fetch_add(1);
    futex_wake(layout_->everything, kWakeAll, true);
  }
}

/// Takes a free place or, if none is, that of a dead writer; kWriterPlaces if all are alive.
/// With the table locked.
std::size_t Bell::take_place() {
  for (const bool from_the_dead : {false, true}) {
    for (std::size_t i = 0; i < kWriterPlaces; ++i) {
      if ((layout_->writers[i].pid.load() != 0) != from_the_dead) continue;
      if (!take_byte(fd_, i)) continue;
      if (from_the_dead) {
        layout_->deaths.fetch_add(1);  // first: who finds the place changed finds the death, too
        layout_->writers[i].pid.store(0);
      }
      return i;
    }
  }
  return kWriterPlaces;
}

void Bell::register_writer() {
  if (listed_.load(std::memory_order_acquire)) return;
  const std::lock_guard guard{table_mutex_};
  if (listed_.load(std::memory_order_relaxed)) return;
  {
    const TableLock lock{fd_};
    own_ = {take_place(), static_cast<std::uint32_t>(::getpid()), own_pid_namespace(),
            layout_->tickets.fetch_add(1) + 1};
    if (own_.place == kWriterPlaces) {
      layout_->unlisted.store(1);
    } else {
      WriterPlace& place = layout_->writers[own_.place];
      place.ticket.store(own_.ticket);
      place.pid_namespace.store(own_.pid_namespace);
      place.pid.store(own_.pid);
    }
  }
  announce_table_change();
  listed_.store(true, std::memory_order_release);
}

std::vector<ListedWriter> Bell::writers() const {
  std::vector<ListedWriter> found;
  for (std::size_t i = 0; i < kWriterPlaces; ++i) {
    if (layout_->writers[i].pid.load() != 0) found.push_back(read_place(*layout_, i));
  }
  return found;
}

std::optional<ListedWriter> Bell::own_place() const {
  if (!listed_.load(std::memory_order_acquire) || own_.place == kWriterPlaces) return {};
  return own_;
}

bool Bell::lives(const ListedWriter& writer) const {
  if (read_place(*layout_, writer.place) != writer) return false;
  return writer == own_place() || held_by_another(fd_, writer.place);
}

bool Bell::reap(const ListedWriter& dead) {
  {
    const std::lock_guard guard{table_mutex_};
    const TableLock lock{fd_};
    if (read_place(*layout_, dead.place) != dead) return false;
    layout_->deaths.fetch_add(1);  // first, as above
    layout_->writers[dead.place].pid.store(0);
  }
  announce_table_change();
  return true;
}

Bell::~Bell() {
  if (const auto own = own_place()) {
    {
      const TableLock lock{fd_};
      if (read_place(*layout_, own->place) == *own) layout_->writers[own->place].pid.store(0);
    }
    announce_table_change();
  }
  ::munmap(layout_, sizeof(BellLayout));
  ::close(fd_);
}

}  // namespace holdfast::store
