// `stream create` and `stream retain`: what a stream is, and how much of it is kept.
#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/commands/retention_options.h"
#include "cli/context.h"
#include "cli/output/text.h"

namespace holdfast::cli {
namespace {

class Create final : public Command {
 public:
  Create() : Command{"create", "Make a stream"} {
    describe(
        "Makes the store, too, if it is missing. Making a stream again with the same options "
        "changes nothing and succeeds; with others it is refused.");
    argument("NAME", "The stream's name: parts between slashes, such as chat/42.", name_);
    option("--content-type", "TYPE",
           "Media type of the chunks. With application/json each chunk must be one JSON value.",
           content_type_);
    option("--ttl", "TIME", "Delete the stream when it was neither read nor written for so long.",
           ttl_);
    option("--expires-at", "WHEN", "Delete the stream then: 2026-03-01T12:00:00Z, or +2h.",
           expires_at_);
    option("--keep-chunks", "N", kKeepChunksHelp, keep_.chunks);
    option("--keep-bytes", "SIZE", kKeepBytesHelp, keep_.bytes);
    option("--keep-age", "TIME", kKeepAgeHelp, keep_.age);
    flag("--closed", "Make it closed: it stays empty.", closed_);
    example("A stream of JSON lines",
            "holdfast stream create chat/42 --content-type application/json");
    example("A log of the last week", "holdfast stream create log/web --keep-age 7d");
  }

  [[nodiscard]] Result<void> validate() const override {
    if (ttl_ && expires_at_) {
      return fail(ErrorCode::kInvalidArgument,
                  "--ttl and --expires-at do not go together: give one of them");
    }
    return {};
  }

  Result<int> run(Context& context) override {
    auto opened = context.open(Access::kCreate);
    if (!opened) return fail(std::move(opened.error()));
    StreamOptions options;
    options.content_type = content_type_;
    options.ttl = ttl_;
    options.expires_at = expires_at_;
    options.retention = keep_.retention();
    options.closed = closed_;
    auto made = opened->streams.create(name_, options);
    if (!made) return fail(std::move(made.error()));
    auto info = made->stream.info();
    if (!info) return fail(std::move(info.error()));
    JsonObject object;
    object.add("created", made->created).add("stream", stream_json(*info));
    context.report(made->created
                       ? fmt::format("created '{}' ({})", name_, info->content_type)
                       : fmt::format("'{}' is there already, with the same options", name_),
                   object);
    return 0;
  }

 private:
  std::string name_;
  std::string content_type_;
  std::optional<std::chrono::seconds> ttl_;
  std::optional<Timestamp> expires_at_;
  KeepOptions keep_;
  bool closed_ = false;
};

class Retain final : public Command {
 public:
  Retain() : Command{"retain", "Show or change how much of a stream is kept"} {
    describe(
        "Without options it shows what holds. With options it replaces all limits: one that is "
        "not given no longer binds. Old chunks go in whole stored blocks, so somewhat more than "
        "asked for may stay, never less.");
    argument("NAME", "The stream.", name_).completes = Completes::kStream;
    option("--keep-chunks", "N", kKeepChunksHelp, keep_.chunks);
    option("--keep-bytes", "SIZE", kKeepBytesHelp, keep_.bytes);
    option("--keep-age", "TIME", kKeepAgeHelp, keep_.age);
    flag("--keep-all", "Keep everything.", all_);
    example("Keep the last day, but no more than a million chunks",
            "holdfast stream retain log/web --keep-age 1d --keep-chunks 1_000_000");
  }

  [[nodiscard]] Result<void> validate() const override {
    if (all_ && keep_.any()) {
      return fail(ErrorCode::kInvalidArgument,
                  "--keep-all does not go with other limits: give it alone");
    }
    return {};
  }

  Result<int> run(Context& context) override {
    const bool change = all_ || keep_.any();
    auto opened = context.open(change ? Access::kWrite : Access::kRead);
    if (!opened) return fail(std::move(opened.error()));
    auto stream = context.open_stream(*opened, name_);
    if (!stream) return fail(std::move(stream.error()));
    if (change) {
      if (auto ok = stream->set_retention(keep_.retention()); !ok) {
        return fail(std::move(ok.error()));
      }
    }
    auto info = stream->info();
    if (!info) return fail(std::move(info.error()));
    context.report(fmt::format("'{}' keeps {}; it holds {} from offset {}", name_,
                               retention_text(info->retention),
                               count_of(info->tail - info->first, "chunk"), info->first.value),
                   stream_json(*info));
    return 0;
  }

 private:
  std::string name_;
  KeepOptions keep_;
  bool all_ = false;
};

}  // namespace

std::string retention_text(const Retention& retention) {
  std::string out;
  const auto add = [&](std::string part) { out += (out.empty() ? "" : ", ") + std::move(part); };
  if (retention.chunks_max)
    add(fmt::format("the last {}", count_of(*retention.chunks_max, "chunk")));
  if (retention.bytes_max) add(fmt::format("the last {}", bytes_text(*retention.bytes_max)));
  if (retention.age_max) add(fmt::format("the last {}", span_text(*retention.age_max)));
  return out.empty() ? "everything" : out;
}

CommandPtr stream_create_command() { return std::make_unique<Create>(); }
CommandPtr stream_retain_command() { return std::make_unique<Retain>(); }

}  // namespace holdfast::cli
