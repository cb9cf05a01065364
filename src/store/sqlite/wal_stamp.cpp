#include "store/sqlite/wal_stamp.h"

#include <atomic>

namespace holdfast::store {
namespace {

constexpr int kIndexPageBytes = 32'768;

// The mapping is the connection's own and lasts as long as it.
const volatile std::uint32_t* index_header(const Connection& connection) {
  sqlite3_file* file = nullptr;
  if (sqlite3_file_control(connection.get(), "main", SQLITE_FCNTL_FILE_POINTER, &file) !=
          SQLITE_OK ||
      file == nullptr || file->pMethods == nullptr || file->pMethods->iVersion < 2) {
    return nullptr;
  }
  volatile void* page = nullptr;
  if (file->pMethods->xShmMap(file, 0, kIndexPageBytes, 0, &page) != SQLITE_OK) return nullptr;
  return static_cast<const volatile std::uint32_t*>(page);
}

}  // namespace

WalStamp WalStamp::of(const Connection& connection) {
  WalStamp stamp;
  const volatile std::uint32_t* header = index_header(connection);
  if (header == nullptr) return stamp;
  for (std::size_t i = 0; i < kHeaderWords; ++i) stamp.words_[i] = header[i];
  std::atomic_thread_fence(std::memory_order_seq_cst);
  stamp.known_ = true;
  for (std::size_t i = 0; i < kHeaderWords; ++i) {
    stamp.known_ = stamp.known_ && stamp.words_[i] == header[kHeaderWords + i];
  }
  return stamp;
}

}  // namespace holdfast::store
