// Server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html) in frames
// that many connections share: a frame is encoded once, with its HTTP chunk header, and sent to all
// as it is.
//
// Two vocabularies:
//   protocol (live=sse)     event: data    the chunks, joined (a JSON array for JSON streams)
//                           event: control {"streamNextOffset", "streamCursor", "upToDate" or
//                                          "streamClosed"}, after each data
//   events   (live=events)  id + data      one chunk each; the id is the cursor after it
//                           event: caught-up, end, goodbye, error   {"cursor": ...}
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <holdfast/stream.h>

namespace holdfast::http {

/// Bytes ready for the socket. Immutable once made.
struct Frame {
  /// "0000002a\r\n" events "\r\n": an HTTP chunk. Or bytes that stand for themselves (head 0).
  std::string bytes;
  std::uint8_t head = 0;  ///< how many of the bytes are the HTTP chunk's own...
  std::uint8_t tail = 0;

  [[nodiscard]] std::string_view chunked() const { return bytes; }
  /// Without the chunk's own bytes, for clients of HTTP/1.0.
  [[nodiscard]] std::string_view plain() const {
    return std::string_view{bytes}.substr(head, bytes.size() - head - tail);
  }
};
using FramePtr = std::shared_ptr<const Frame>;

/// Bytes as they are.
[[nodiscard]] FramePtr raw_frame(std::string bytes);

/// Puts events into a frame.
class FrameBuilder {
 public:
  FrameBuilder();
  void event(std::string_view name);
  void id(Offset cursor);
  /// One data line for each line of the text; CR, LF and CRLF all end lines.
  void data(std::string_view text);
  void end_event();
  void comment(std::string_view text);
  void raw(std::string_view text);
  [[nodiscard]] bool empty() const;
  [[nodiscard]] FramePtr finish();

 private:
  std::string bytes_;
};

/// What the protocol's control event says beside the cursor.
struct Control {
  Offset next{};
  std::uint64_t interval = 0;  ///< streamCursor
  bool up_to_date = false;
  bool closed = false;
};
void add_control(FrameBuilder& frame, const Control& control);

/// The chunks as the protocol's one data event (nothing if there are none).
void add_data(FrameBuilder& frame, std::span<const Chunk> chunks, std::string_view content_type);
/// The chunks as one event each.
void add_events(FrameBuilder& frame, std::span<const Chunk> chunks, std::string_view content_type);
/// `event: NAME`, with the cursor as id and in its data.
void add_marker(FrameBuilder& frame, std::string_view name, Offset cursor);

/// How a connection reads a stream.
enum class Form : std::uint8_t { kProtocol, kEvents, kList, kPoll };

/// Chunks that were read together, and what the reader is told of where it stands.
struct Batch {
  std::span<const Chunk> chunks{};
  Offset next{};
  bool at_tail = false;
  bool closed = false;
  bool tells_caught_up = false;  ///< the first time this reader is at the tail
  std::uint64_t interval = 0;    ///< the protocol's cursor
};
/// The batch as one frame; null if there is nothing to say.
[[nodiscard]] FramePtr encode_batch(Form form, std::string_view content_type, const Batch& batch);

[[nodiscard]] std::string base64(std::string_view bytes);

/// The protocol's cursor that collapses equal requests: the number of the current 20 s interval, or
/// one past the client's when that is not lower.
[[nodiscard]] std::uint64_t cursor_interval(Timestamp now, std::uint64_t client);

}  // namespace holdfast::http
