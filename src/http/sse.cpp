#include "http/sse.h"

#include <iterator>

#include <fmt/format.h>

#include <holdfast/check.h>

#include "http/json_body.h"
#include "http/offset_token.h"

namespace holdfast::http {
namespace {

constexpr std::uint8_t kHeadBytes = 10;
constexpr std::int64_t kIntervalMs = 20'000;
constexpr std::int64_t kIntervalsBeganMs = 1'728'432'000'000;  // 2024-10-09T00:00:00Z

}  // namespace

FramePtr raw_frame(std::string bytes) {
  auto frame = std::make_shared<Frame>();
  frame->bytes = std::move(bytes);
  return frame;
}

FrameBuilder::FrameBuilder() : bytes_(kHeadBytes, '0') {}

bool FrameBuilder::empty() const { return bytes_.size() == kHeadBytes; }

void FrameBuilder::raw(std::string_view text) { bytes_.append(text); }
void FrameBuilder::end_event() { bytes_.push_back('\n'); }

void FrameBuilder::event(std::string_view name) {
  raw("event: ");
  raw(name);
  raw("\n");
}

void FrameBuilder::id(Offset cursor) {
  raw("id: ");
  raw(offset_token(cursor));
  raw("\n");
}

void FrameBuilder::comment(std::string_view text) {
  raw(":");
  raw(text);
  raw("\n\n");
}

void FrameBuilder::data(std::string_view text) {
  for (;;) {
    const std::size_t end = text.find_first_of("\r\n");
    const std::string_view line = text.substr(0, end);
    // A reader drops one space after the colon: a line that begins with one needs another.
    raw(line.starts_with(' ') ? "data: " : "data:");
    raw(line);
    raw("\n");
    if (end == std::string_view::npos) return;
    const bool pair = text[end] == '\r' && end + 1 < text.size() && text[end + 1] == '\n';
    text.remove_prefix(end + (pair ? 2 : 1));
  }
}

FramePtr FrameBuilder::finish() {
  const std::size_t payload = bytes_.size() - kHeadBytes;
  HOLDFAST_CHECK(payload > 0 && payload <= 0xffffffffu, "a frame's length must fit its head");
  fmt::format_to_n(bytes_.data(), 8, "{:08x}", payload);
  bytes_[8] = '\r';
  bytes_[9] = '\n';
  bytes_.append("\r\n");
  bytes_.shrink_to_fit();
  auto frame = std::make_shared<Frame>();
  frame->bytes = std::move(bytes_);
  frame->head = kHeadBytes;
  frame->tail = 2;
  return frame;
}

FramePtr encode_batch(Form form, std::string_view content_type, const Batch& batch) {
  FrameBuilder frame;
  if (form == Form::kProtocol) {
    add_data(frame, batch.chunks, content_type);
    if (!frame.empty() || batch.closed || batch.tells_caught_up) {
      add_control(frame, {.next = batch.next,
                          .interval = batch.interval,
                          .up_to_date = batch.at_tail,
                          .closed = batch.closed});
    }
  } else {
    add_events(frame, batch.chunks, content_type);
    if (batch.at_tail && batch.tells_caught_up) add_marker(frame, "caught-up", batch.next);
    if (batch.closed) add_marker(frame, "end", batch.next);
  }
  return frame.empty() ? nullptr : frame.finish();
}

void add_control(FrameBuilder& frame, const Control& control) {
  frame.event("control");
  if (control.closed) {
    frame.data(fmt::format(R"({{"streamNextOffset":"{}","streamClosed":true}})",
                           offset_token(control.next)));
  } else {
    frame.data(fmt::format(R"({{"streamNextOffset":"{}","streamCursor":"{}"{}}})",
                           offset_token(control.next), control.interval,
                           control.up_to_date ? R"(,"upToDate":true)" : ""));
  }
  frame.end_event();
}

void add_data(FrameBuilder& frame, std::span<const Chunk> chunks, std::string_view content_type) {
  if (chunks.empty()) return;
  std::string joined;
  if (is_json(content_type)) {
    joined = json_array(chunks);
  } else {
    for (const Chunk& chunk : chunks) joined.append(chunk.bytes);
    if (!is_text(content_type)) joined = base64(joined);
  }
  frame.event("data");
  frame.data(joined);
  frame.end_event();
}

void add_events(FrameBuilder& frame, std::span<const Chunk> chunks, std::string_view content_type) {
  const bool text = is_text(content_type);
  for (const Chunk& chunk : chunks) {
    frame.id(chunk.next);
    if (text) {
      frame.data(chunk.bytes);
    } else {
      frame.data(base64(chunk.bytes));
    }
    frame.end_event();
  }
}

void add_marker(FrameBuilder& frame, std::string_view name, Offset cursor) {
  frame.event(name);
  frame.id(cursor);
  frame.data(fmt::format(R"({{"cursor":"{}"}})", offset_token(cursor)));
  frame.end_event();
}

std::string base64(std::string_view bytes) {
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  const auto at = [bytes](std::size_t i) {
    return i < bytes.size() ? static_cast<unsigned>(static_cast<unsigned char>(bytes[i])) : 0u;
  };
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const unsigned group = at(i) << 16 | at(i + 1) << 8 | at(i + 2);
    text.push_back(kDigits[group >> 18]);
    text.push_back(kDigits[group >> 12 & 63]);
    text.push_back(i + 1 < bytes.size() ? kDigits[group >> 6 & 63] : '=');
    text.push_back(i + 2 < bytes.size() ? kDigits[group & 63] : '=');
  }
  return text;
}

std::uint64_t cursor_interval(Timestamp now, std::uint64_t client) {
  const std::int64_t since = now.ms - kIntervalsBeganMs;
  const auto current = static_cast<std::uint64_t>(since > 0 ? since / kIntervalMs : 0);
  // The protocol asks for a step of chance; one that every server takes alike keeps equal requests
  // equal, and never repeats either.
  return client >= current && client < ~std::uint64_t{0} ? client + 1 : current;
}

}  // namespace holdfast::http
