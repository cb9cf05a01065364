// From a request to its answer: which route, and where its work runs.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "http/connection.h"
#include "http/context.h"
#include "http/hub.h"
#include "http/stream_routes.h"

namespace holdfast::http {

/// Counts what a store has still to call back.
class InFlight {
 public:
  void begin();
  void end();
  void wait_for_none();

 private:
  std::mutex mutex_;
  std::condition_variable none_;
  std::size_t count_ = 0;  // guarded by mutex_
};

/// Owns the connections and the followers. Loop thread only.
class Service final : public Connection::Handler {
 public:
  Service(Context& context, StreamRoutes routes);
  ~Service() override;

  /// Takes a new connection over.
  void accept(int fd, std::string_view remote);

  void handle(const std::shared_ptr<Connection>& connection) override;
  void forget(Connection& connection) override;

  /// Ends all cleanly; `on_empty` is called when nothing is left.
  void stop();
  /// Cuts off what is left.
  void close_all();
  /// Returns when no store's thread will call back any more. The workers must have stopped.
  void wait_for_store() { in_flight_.wait_for_none(); }
  [[nodiscard]] bool empty() const { return connections_.empty() && hub_.empty(); }
  std::function<void()> on_empty;

 private:
  void serve_stream(const std::shared_ptr<Connection>& connection);
  void serve_list(const std::shared_ptr<Connection>& connection);
  void serve_metrics(const std::shared_ptr<Connection>& connection);
  void append(const std::shared_ptr<Connection>& connection, const std::string& name,
              bool last_try);
  void read(const std::shared_ptr<Connection>& connection, const std::string& name);
  void follow(const std::shared_ptr<Connection>& connection, FollowStart start);
  /// Runs `work` on a worker and answers with what it gives.
  void answer_from_worker(const std::shared_ptr<Connection>& connection,
                          std::move_only_function<Response()> work);
  /// Runs `work` on a worker; answers 503 when there is none to be had.
  void on_worker(const std::shared_ptr<Connection>& connection, rt::Task work);
  void maybe_empty();

  Context& context_;
  StreamRoutes routes_;
  Hub hub_;
  InFlight in_flight_;
  std::unordered_map<Connection*, std::shared_ptr<Connection>> connections_;
};

}  // namespace holdfast::http
