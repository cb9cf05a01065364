// What everything on the loop thread shares.
#pragma once

#include <array>
#include <cstdint>

#include <holdfast/store.h>
#include <holdfast/stream.h>

#include "http/access.h"
#include "http/access_log.h"
#include "http/metrics.h"
#include "http/server.h"
#include "rt/deadlines.h"
#include "rt/loop.h"
#include "rt/worker_pool.h"

namespace holdfast::http {

class StreamCache;

/// Loop thread only, but for what is thread-safe of itself (loop.post, workers, store, streams,
/// cache, clock, options).
struct Context {
  Context(const ServerOptions& given, rt::Loop& the_loop, rt::WorkerPool& pool, Store& the_store,
          Streams& the_streams, StreamCache& the_cache)
      : options{given},
        loop{the_loop},
        workers{pool},
        store{the_store},
        streams{the_streams},
        cache{the_cache},
        clock{*given.clock},
        access{given},
        log{the_loop, given.access_log_fd},
        idle{the_loop, given.idle_timeout},
        header{the_loop, given.header_timeout},
        body{the_loop, given.body_timeout},
        write{the_loop, given.write_timeout},
        long_poll{the_loop, given.long_poll_wait},
        linger{the_loop, std::chrono::milliseconds{1'000}} {}

  const ServerOptions& options;
  rt::Loop& loop;
  rt::WorkerPool& workers;
  Store& store;
  Streams& streams;
  StreamCache& cache;
  const Clock& clock;
  Access access;
  AccessLog log;
  Metrics metrics{};
  rt::Deadlines idle;
  rt::Deadlines header;
  rt::Deadlines body;
  rt::Deadlines write;
  rt::Deadlines long_poll;
  rt::Deadlines linger;
  bool stopping = false;
  /// Where sockets are read into: no connection keeps a read buffer of its own.
  std::array<char, 64u << 10> scratch{};
};

}  // namespace holdfast::http
