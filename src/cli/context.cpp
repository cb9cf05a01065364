#include "cli/context.h"

#include <unistd.h>

#include <cstdlib>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/args/suggest.h"
#include "core/log/names.h"

namespace holdfast::cli {

Context::Context(const Globals& globals)
    : globals_{globals},
      out_{STDOUT_FILENO, "standard output"},
      err_{STDERR_FILENO, "standard error"},
      out_style_{Style::of(STDOUT_FILENO)},
      err_style_{Style::of(STDERR_FILENO)} {}

std::string Context::store_path() const {
  if (!globals_.store.empty()) return globals_.store;
  const char* named = std::getenv("HOLDFAST_STORE");  // NOLINT(concurrency-mt-unsafe): never set
  if (named != nullptr && named[0] != '\0') return named;
  return "holdfast.db";
}

Result<OpenStore> Context::open(Access access) const {
  SqliteOptions options;
  options.durability = globals_.durability;
  options.must_exist = access != Access::kCreate;
  options.background_seal = access != Access::kRead;
  auto store = open_sqlite_store(store_path(), options);
  if (!store) {
    Error error = std::move(store.error());
    if (error.code == ErrorCode::kNotFound && globals_.store.empty()) {
      error.message += "; --store PATH or $HOLDFAST_STORE names another";
    }
    return fail(std::move(error));
  }
  Streams streams{**store};
  return OpenStore{std::move(*store), std::move(streams)};
}

Result<Stream> Context::open_stream(OpenStore& opened, std::string_view name) const {
  auto stream = opened.streams.open(name);
  if (stream || stream.error().code != ErrorCode::kNotFound) return stream;
  constexpr std::size_t kLookedAt = 1000;
  std::vector<std::string> names;
  if (auto page = opened.streams.list({}, {}, kLookedAt)) {
    for (const StreamInfo& info : page->streams) names.push_back(info.name);
  }
  Error error = std::move(stream.error());
  const std::string meant = nearest(name, names);
  if (!meant.empty()) error.message += fmt::format(". Did you mean '{}'?", core::printable(meant));
  return fail(std::move(error));
}

void Context::note(std::string_view text) {
  if (json()) return;
  err_.write(fmt::format("holdfast: {}\n", text));
  err_.flush();
}

void Context::report(std::string_view text, const JsonObject& object) {
  out_.write(json() ? object.line() : fmt::format("{}\n", text));
}

ProgressMeter::Mode Context::meter_mode(bool asked) const {
  return progress_mode(err_style_, asked, json() && !asked);
}

}  // namespace holdfast::cli
