#include "engine/streams/importer.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/json.h"
#include "core/log/names.h"
#include "core/stream/content_hash.h"
#include "core/stream/import_mark.h"
#include "engine/streams/core.h"
#include "engine/streams/rows.h"

namespace holdfast::engine {

Result<void> LineSource::seek(std::uint64_t /*byte*/) {
  return fail(ErrorCode::kInvalidArgument, "this source cannot be read again from the middle");
}

namespace {

constexpr std::size_t kReadBytes = 256u << 10;
constexpr std::size_t kMarksMax = 32;

// The source, buffered: bytes are looked at first and taken afterwards.
class Reader {
 public:
  explicit Reader(LineSource& source) : source_{source} {}

  /// The line at hand, with its newline if it has one; empty at the end. Not taken yet.
  Result<std::string_view> peek_line() {
    std::size_t looked = 0;
    for (;;) {
      const std::string_view have = rest();
      const std::size_t newline = have.find('\n', looked);
      if (newline != std::string_view::npos) return have.substr(0, newline + 1);
      looked = have.size();
      if (looked > kRecordBytesMax) return have;
      const auto more = fill();
      if (!more) return fail(more.error());
      if (!*more) return rest();
    }
  }
  /// Some bytes at hand, at most `max`; empty at the end.
  Result<std::string_view> peek_some(std::uint64_t max) {
    if (rest().empty()) {
      const auto more = fill();
      if (!more) return fail(more.error());
    }
    return rest().substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(max, kReadBytes)));
  }
  void take(std::size_t count) {
    hash_.add(rest().substr(0, count));
    at_ += count;
    taken_ += count;
  }
  [[nodiscard]] std::uint64_t taken() const { return taken_; }
  [[nodiscard]] core::ContentHash hash() const { return hash_.value(); }

  /// Remembers this place for go_back(), in the place of any before.
  void remember() {
    remembered_ = taken_;
    remembered_hash_ = hash_;
    if (!remembering_) spooled_from_ = taken_ + rest().size();
    remembering_ = true;
    if (head_.empty()) head_ = rest();
    head_from_ = std::min(head_from_, taken_);
  }
  void stop_remembering() { remembering_ = false; }
  Result<void> go_back() {
    if (remembered_ == taken_) return {};
    hash_ = remembered_hash_;
    taken_ = remembered_;
    at_ = 0;
    buffer_.clear();
    ended_ = false;
    if (source_.seekable()) return source_.seek(taken_);
    if (taken_ < spooled_from_) {
      buffer_ = head_.substr(static_cast<std::size_t>(taken_ - head_from_));
      replayed_ = 0;
    } else {
      replayed_ = taken_ - spooled_from_;
    }
    replaying_ = spool_ != nullptr;
    return {};
  }

 private:
  [[nodiscard]] std::string_view rest() const { return std::string_view{buffer_}.substr(at_); }

  // Reads more behind what is there; false at the end.
  Result<bool> fill() {
    if (ended_) return false;
    buffer_.erase(0, at_);
    at_ = 0;
    const std::size_t before = buffer_.size();
    buffer_.resize(before + kReadBytes);
    const auto count = read(buffer_.data() + before);
    buffer_.resize(before + count.value_or(0));
    if (!count) return fail(count.error());
    ended_ = *count == 0;
    return !ended_;
  }

  Result<std::size_t> read(char* to) {
    if (replaying_) {
      if (std::fseek(spool_.get(), static_cast<long>(replayed_), SEEK_SET) != 0)
        return spool_error();
      const std::size_t count = std::fread(to, 1, kReadBytes, spool_.get());
      replayed_ += count;
      if (count > 0) return count;
      replaying_ = false;
    }
    auto count = source_.read(to, kReadBytes);
    if (!count || *count == 0 || !remembering_ || source_.seekable()) return count;
    if (!spool_) spool_.reset(std::tmpfile());
    if (!spool_ || std::fwrite(to, 1, *count, spool_.get()) != *count) return spool_error();
    return count;
  }

  static std::unexpected<Error> spool_error() {
    return fail(ErrorCode::kIo,
                "the input cannot be read twice and the temporary file to keep it in cannot be "
                "written: give the input as a file, or make space where temporary files go");
  }

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  LineSource& source_;
  std::string buffer_;
  std::size_t at_ = 0;
  bool ended_ = false;
  std::uint64_t taken_ = 0;
  core::RunningHash hash_;
  // While the place to go on from is looked for. What a source that cannot seek gives is spooled:
  // first what was buffered already, then what was read since.
  bool remembering_ = false;
  std::uint64_t remembered_ = 0;
  core::RunningHash remembered_hash_;
  std::string head_;
  std::uint64_t head_from_ = ~std::uint64_t{0};
  std::uint64_t spooled_from_ = 0;
  std::unique_ptr<std::FILE, Close> spool_;
  bool replaying_ = false;
  std::uint64_t replayed_ = 0;
};

struct Mark {
  std::string key;
  std::uint64_t version = 0;
  core::ImportMark mark;
};

class Import {
 public:
  Import(const Stream& stream, LineSource& source, const ImportOptions& options)
      : core_{*StreamAccess::core(stream)},
        handle_{StreamAccess::handle(stream)},
        reader_{source},
        options_{options},
        json_{options.format == LineFormat::kJsonLines || handle_->json} {}

  Result<ImportReport> run() {
    if (auto alive = core_.check_alive(handle_); !alive) return fail(std::move(alive.error()));
    const auto state = core_.tail(handle_);
    if (!state) return fail(state.error());
    report_.next = state->tail;
    const auto head = reader_.peek_line();
    if (!head) return fail(head.error());
    if (head->empty()) return report_;
    // Imports of one content meet in one row's key, whoever was first.
    const core::ContentHash hash =
        core::hash_content(head->substr(0, head->find_last_not_of('\n') + 1));
    prefix_ = fmt::format("{}/{:016x}{:016x}/", handle_->record.id.text(), hash.high, hash.low);
    if (auto found = find_place(); !found) return fail(std::move(found.error()));
    if (auto joined_on = pass_newline(); !joined_on) return fail(std::move(joined_on.error()));
    if (auto imported = import_rest(); !imported) return fail(std::move(imported.error()));
    report_.bytes = reader_.taken();
    report_.lines = lines_;
    return report_;
  }

 private:
  Result<void> load_marks() {
    const auto rows = core_.store().scan(kImportSpace, KeyRange::prefix(prefix_), 1'000);
    if (!rows) return fail(rows.error());
    for (const Row& row : *rows) {
      const auto mark = core::decode_import_mark(row.value);
      if (!mark) return fail(mark.error());
      marks_.push_back({row.key, row.version, *mark});
    }
    return {};
  }

  // Takes the source up to the farthest mark that it agrees with.
  Result<void> find_place() {
    if (auto loaded = load_marks(); !loaded) return loaded;
    if (marks_.empty()) return {};
    std::vector<const Mark*> order;
    for (const Mark& mark : marks_) order.push_back(&mark);
    std::ranges::sort(order, {}, [](const Mark* mark) { return mark->mark.bytes; });
    reader_.remember();
    for (const Mark* mark : order) {
      while (reader_.taken() < mark->mark.bytes) {
        const auto some = reader_.peek_some(mark->mark.bytes - reader_.taken());
        if (!some) return fail(some.error());
        if (some->empty()) break;
        reader_.take(some->size());
        tell(true);
      }
      if (reader_.taken() < mark->mark.bytes) break;
      const core::ContentHash hash = reader_.hash();
      if (hash != core::ContentHash{mark->mark.hash_low, mark->mark.hash_high}) continue;
      // Of equal places the newest row: it is the one that others go on from.
      place_ = mark;
      reader_.remember();
    }
    auto back = reader_.go_back();
    reader_.stop_remembering();
    if (place_ != nullptr) {
      lines_ = place_->mark.lines;
      report_.lines_before = lines_;
    }
    return back;
  }

  // The last line taken had no newline then; it has one now, or nothing follows, or it has grown.
  Result<void> pass_newline() {
    if (place_ == nullptr || !place_->mark.open_line) return {};
    const auto next = reader_.peek_some(1);
    if (!next) return fail(next.error());
    if (next->empty()) return {};
    if (*next != "\n") {
      return fail(Error{ErrorCode::kConflict,
                        fmt::format("line {} was imported when the source ended in it, and has "
                                    "grown since: import only what follows it, or into another "
                                    "stream",
                                    lines_)}
                      .with(lines_, reader_.taken()));
    }
    reader_.take(1);
    return {};
  }

  Result<void> import_rest() {
    for (;;) {
      const auto line = reader_.peek_line();
      if (!line) return fail(line.error());
      if (line->empty()) return flush(true);
      const bool whole = line->back() == '\n';
      const std::string_view text = line->substr(0, line->size() - (whole ? 1 : 0));
      if (auto good = check_line(text); !good) {
        if (auto kept = flush(false); !kept) return kept;
        return good;
      }
      if (!ends_.empty() && arena_.size() + text.size() > options_.batch_bytes) {
        if (auto kept = flush(false); !kept) return kept;
      }
      arena_.append(text);
      ends_.push_back(arena_.size());
      ++lines_;
      open_line_ = !whole;
      reader_.take(line->size());
      if (ends_.size() >= std::max<std::size_t>(options_.batch_lines, 1)) {
        if (auto kept = flush(false); !kept) return kept;
      }
    }
  }

  Result<void> check_line(std::string_view text) const {
    if (text.size() > kRecordBytesMax) {
      return fail(Error{ErrorCode::kTooLarge,
                        fmt::format("line {} (byte {} of the input) is longer than {} bytes: cut "
                                    "it; the lines before it are imported",
                                    lines_ + 1, reader_.taken(), kRecordBytesMax)}
                      .with(lines_ + 1, reader_.taken()));
    }
    if (!json_) return {};
    auto good = check_json(text);
    if (good) return good;
    const std::uint64_t byte = reader_.taken() + good.error().actual;
    return fail(Error{ErrorCode::kInvalidArgument,
                      fmt::format("line {} (byte {} of the input) is {}: correct it and import "
                                  "again; the lines before it are imported",
                                  lines_ + 1, byte, good.error().message)}
                    .with(lines_ + 1, byte));
  }

  // Commits the lines gathered, with the mark behind them. `done`: the source has ended.
  Result<void> flush(bool done) {
    const bool marked_done = place_ != nullptr && place_->mark.done && report_.lines_imported == 0;
    const bool nothing_new = ends_.empty() && (!done || marked_done || done_);
    if (nothing_new) return {};
    std::vector<BytesView> chunks;
    chunks.reserve(ends_.size());
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
      chunks.push_back(std::string_view{arena_}.substr(begin, ends_[i] - begin));
    }
    choose_row();
    const core::ContentHash hash = reader_.hash();
    const core::ImportMark mark{reader_.taken(), lines_, hash.low, hash.high, open_line_, done};
    auto appended = core_.append_marked(
        handle_, chunks,
        {std::string{kImportSpace}, key_, core::encode_import_mark(mark), version_}, dropped_);
    if (!appended) {
      if (appended.error().code == ErrorCode::kStale) {
        return fail(ErrorCode::kStale,
                    fmt::format("another import of this content into '{}' is under way: let it "
                                "finish, or end it and import again",
                                core::printable(handle_->name)));
      }
      return fail(std::move(appended.error()));
    }
    version_ = appended->row_version;
    dropped_.clear();
    if (!chunks.empty()) report_.next = appended->next;
    report_.lines_imported += chunks.size();
    done_ = done;
    arena_.clear();
    ends_.clear();
    tell(false);
    return {};
  }

  // A place that was reached by an import that ended there stays as it is, so that its source is
  // known again; others are moved on.
  void choose_row() {
    if (!key_.empty()) return;
    if (place_ != nullptr && !place_->mark.done) {
      key_ = place_->key;
      version_ = place_->version;
      return;
    }
    std::uint64_t number = 0;
    for (const Mark& mark : marks_) {
      const std::string digits = mark.key.substr(prefix_.size());
      number = std::max<std::uint64_t>(number, std::strtoull(digits.c_str(), nullptr, 10) + 1);
    }
    key_ = fmt::format("{}{:010}", prefix_, number);
    version_ = 0;
    if (marks_.size() >= kMarksMax && &marks_.front() != place_) dropped_ = marks_.front().key;
  }

  void tell(bool comparing) const {
    if (!options_.progress) return;
    options_.progress({reader_.taken(), lines_, report_.lines_imported, comparing});
  }

  StreamsCore& core_;
  HandlePtr handle_;
  Reader reader_;
  const ImportOptions& options_;
  bool json_;
  ImportReport report_;
  std::string prefix_;
  std::vector<Mark> marks_;
  const Mark* place_ = nullptr;

  std::uint64_t lines_ = 0;
  bool open_line_ = false;
  bool done_ = false;
  // The batch: lines back to back, and where each ends.
  std::string arena_;
  std::vector<std::size_t> ends_;
  // The row that this run moves on.
  std::string key_;
  std::uint64_t version_ = 0;
  std::string dropped_;
};

}  // namespace

Result<ImportReport> import_lines(const Stream& stream, LineSource& source,
                                  const ImportOptions& options) {
  return Import{stream, source, options}.run();
}

}  // namespace holdfast::engine
