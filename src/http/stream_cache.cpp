#include "http/stream_cache.h"

namespace holdfast::http {

StreamCache::StreamCache(Streams& streams, std::size_t size_max)
    : streams_{streams}, size_max_{size_max} {}

Result<OpenedPtr> StreamCache::open(std::string_view name) {
  {
    const std::lock_guard lock{mutex_};
    const auto found = by_name_.find(name);
    if (found != by_name_.end()) {
      recent_.splice(recent_.begin(), recent_, found->second);
      return found->second->opened;
    }
  }
  auto stream = streams_.open(name);
  if (!stream) return fail(std::move(stream.error()));
  auto info = stream->info();
  if (!info) return fail(std::move(info.error()));
  auto opened =
      std::make_shared<const Opened>(std::move(*stream), info->id, std::move(info->content_type));
  const std::lock_guard lock{mutex_};
  const auto found = by_name_.find(name);
  if (found != by_name_.end()) {
    found->second->opened = opened;
    return OpenedPtr{opened};
  }
  recent_.push_front({std::string{name}, opened});
  by_name_.emplace(recent_.front().name, recent_.begin());
  if (recent_.size() > size_max_) {
    by_name_.erase(recent_.back().name);
    recent_.pop_back();
  }
  return OpenedPtr{opened};
}

void StreamCache::drop(std::string_view name) {
  const std::lock_guard lock{mutex_};
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return;
  const auto entry = found->second;
  by_name_.erase(found);
  recent_.erase(entry);
}

}  // namespace holdfast::http
