// Streams that were opened lately, so that a request costs no look-up. Bounded. Thread-safe.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include <holdfast/stream.h>

namespace holdfast::http {

/// An open stream with what never changes about it.
struct Opened {
  Opened(Stream handle, Ulid its_id, std::string type)
      : stream{std::move(handle)}, id{its_id}, content_type{std::move(type)} {}
  Stream stream;
  Ulid id;
  std::string content_type;
};
using OpenedPtr = std::shared_ptr<const Opened>;

class StreamCache {
 public:
  explicit StreamCache(Streams& streams, std::size_t size_max = 4'096);

  /// The stream of a name. May be out of date: calls on it say `kNotFound` once it was deleted;
  /// then drop() it and open again.
  Result<OpenedPtr> open(std::string_view name);
  void drop(std::string_view name);
  /// Does `work(const OpenedPtr&)`, which gives a Result; once more, on a stream opened afresh, if
  /// the cached one is gone.
  template <typename Work>
  auto with(std::string_view name, Work&& work) -> decltype(work(OpenedPtr{})) {
    auto opened = open(name);
    if (!opened) return fail(std::move(opened.error()));
    auto result = work(*opened);
    if (result || !is_gone(result.error())) return result;
    drop(name);
    opened = open(name);
    if (!opened) return fail(std::move(opened.error()));
    return work(*opened);
  }

 private:
  [[nodiscard]] static bool is_gone(const Error& error) {
    return error.code == ErrorCode::kNotFound;
  }

  struct Entry {
    std::string name;
    OpenedPtr opened;
  };
  Streams& streams_;
  const std::size_t size_max_;
  std::mutex mutex_;
  std::list<Entry> recent_;  // guarded by mutex_; the latest used first
  std::unordered_map<std::string_view, std::list<Entry>::iterator> by_name_;  // guarded by mutex_
};

}  // namespace holdfast::http
