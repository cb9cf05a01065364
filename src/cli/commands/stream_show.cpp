// `stream tail`, `stream info` and `stream ls`: what there is, without its chunks.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/commands/retention_options.h"
#include "cli/context.h"
#include "cli/output/table.h"
#include "cli/output/text.h"
#include "core/log/names.h"

namespace holdfast::cli {
namespace {

class Tail final : public Command {
 public:
  Tail() : Command{"tail", "Print the offset that the next chunk will get"} {
    describe(
        "A number alone, for scripts; it costs the same at any length. With --json also the first "
        "offset kept, the bytes and whether the stream is closed.");
    argument("NAME", "The stream.", name_).completes = Completes::kStream;
    example("How long is it?", "holdfast stream tail chat/42");
  }

  Result<int> run(Context& context) override {
    auto opened = context.open(Access::kRead);
    if (!opened) return fail(std::move(opened.error()));
    auto stream = context.open_stream(*opened, name_);
    if (!stream) return fail(std::move(stream.error()));
    auto state = stream->tail();
    if (!state) return fail(std::move(state.error()));
    JsonObject object;
    object.add("name", name_).add("first", state->first.value).add("tail", state->tail.value);
    object.add("closed", state->closed).add("bytes", state->bytes);
    context.report(std::to_string(state->tail.value), object);
    return 0;
  }

 private:
  std::string name_;
};

class Info final : public Command {
 public:
  Info() : Command{"info", "Show all about one stream"} {
    argument("NAME", "The stream.", name_).completes = Completes::kStream;
    example("All about a stream", "holdfast stream info chat/42");
  }

  Result<int> run(Context& context) override {
    auto opened = context.open(Access::kRead);
    if (!opened) return fail(std::move(opened.error()));
    auto stream = context.open_stream(*opened, name_);
    if (!stream) return fail(std::move(stream.error()));
    auto info = stream->info();
    if (!info) return fail(std::move(info.error()));
    if (context.json()) {
      context.out().write(stream_json(*info).line());
      return 0;
    }
    const Timestamp now = system_clock().now();
    Properties shown;
    shown.add("name", info->name);
    shown.add("state", info->closed ? "closed" : "open");
    shown.add("chunks", fmt::format("{}, offsets {} to {}", count_text(info->tail - info->first),
                                    info->first.value, info->tail.value));
    shown.add("bytes", fmt::format("{} ever appended", bytes_text(info->bytes)));
    shown.add("content type", info->content_type);
    shown.add("created",
              fmt::format("{} ({})", time_text(info->created), ago_text(info->created, now)));
    shown.add("keeps", retention_text(info->retention));
    if (info->ttl) {
      shown.add("expires", fmt::format("when unused for {}",
                                       span_text(std::chrono::milliseconds{*info->ttl})));
    }
    if (info->expires_at) {
      shown.add("expires", fmt::format("{} ({})", time_text(*info->expires_at),
                                       ago_text(*info->expires_at, now)));
    }
    if (!info->forked_from.empty()) {
      shown.add("forked from",
                fmt::format("'{}' at {}", info->forked_from, info->fork_offset.value));
    }
    shown.add("id", info->id.text());
    context.out().write(shown.text(context.out_style()));
    return 0;
  }

 private:
  std::string name_;
};

class Ls final : public Command {
 public:
  Ls() : Command{"ls", "List streams"} {
    describe(
        "In the order of their names. With --limit, the next page begins with --after and the "
        "last name shown.");
    Argument& prefix = argument("PREFIX", "Only streams whose names begin so.", prefix_);
    prefix.required = false;
    prefix.completes = Completes::kStream;
    option("-n,--limit", "N", "List at most so many.", limit_);
    option("--after", "NAME", "List what comes after this name.", after_).completes =
        Completes::kStream;
    flag("--names", "Print only names, one a line.", names_only_);
    example("All chats", "holdfast stream ls chat/");
    example("Names by the hundred", "holdfast stream ls --names --limit 100 --after chat/99");
  }

  Result<int> run(Context& context) override {
    auto opened = context.open(Access::kRead);
    if (!opened) return fail(std::move(opened.error()));
    Table table{{{"NAME"},
                 {"CHUNKS", true},
                 {"TAIL", true},
                 {"BYTES", true},
                 {"STATE"},
                 {"TYPE"},
                 {"CREATED"}}};
    std::uint64_t shown = 0;
    std::string after = after_;
    bool more = true;
    while (more && shown < limit_ && context.out().ok()) {
      constexpr std::uint64_t kPage = 500;
      const auto size = static_cast<std::size_t>(std::min(kPage, limit_ - shown));
      auto page = opened->streams.list(prefix_, after, size);
      if (!page) return fail(std::move(page.error()));
      for (const StreamInfo& info : page->streams) show(context, info, table);
      shown += page->streams.size();
      after = page->next_after;
      more = !after.empty();
    }
    if (context.json() || names_only_) return 0;
    if (shown == 0) {
      context.note(prefix_.empty() ? fmt::format("no streams in {}", context.store_path())
                                   : fmt::format("no streams in {} begin with '{}'",
                                                 context.store_path(), core::printable(prefix_)));
      return 0;
    }
    context.out().write(table.text(context.out_style()));
    if (more) {
      context.out().flush();
      context.note(fmt::format("there are more: --after {}", shell_quoted(after)));
    }
    return 0;
  }

 private:
  void show(Context& context, const StreamInfo& info, Table& table) const {
    if (names_only_) {
      context.out().write(info.name + "\n");
    } else if (context.json()) {
      context.out().write(stream_json(info).line());
    } else {
      table.add({info.name, count_text(info.tail - info.first), count_text(info.tail.value),
                 bytes_text(info.bytes), info.closed ? "closed" : "open", info.content_type,
                 ago_text(info.created, system_clock().now())});
    }
  }

  std::string prefix_;
  std::string after_;
  std::uint64_t limit_ = std::numeric_limits<std::uint64_t>::max();
  bool names_only_ = false;
};

}  // namespace

CommandPtr stream_tail_command() { return std::make_unique<Tail>(); }
CommandPtr stream_info_command() { return std::make_unique<Info>(); }
CommandPtr stream_ls_command() { return std::make_unique<Ls>(); }

}  // namespace holdfast::cli
