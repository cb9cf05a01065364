// Results and errors: how every operation of Holdfast says what went wrong.
//
// Operations that can fail in production return `Result<T>`. Mistakes of the program itself (a
// broken invariant) do not: they stop it at once (check.h).
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast {

/// What kind of thing went wrong. The names are stable: they stand in HTTP bodies, `--json` output
/// and logs (see `error_name`).
enum class ErrorCode : std::uint8_t {
  kInvalidArgument,  ///< The request itself is malformed: a bad name, a bad option, bad JSON.
  kNotFound,         ///< The log, stream, row or file does not exist.
  kAlreadyExists,    ///< It exists already, and not as asked for.
  kGone,  ///< It was deleted, or its records were trimmed; `actual` holds the first offset left.
  kConflict,  ///< It disagrees with what is there (other content type, order of `Stream-Seq`, …).
  kStale,   ///< An expected tail, epoch or row version did not match; `actual` holds the real one.
  kClosed,  ///< The log or stream takes no more records; `actual` holds its final tail.
  kFenced,  ///< A newer producer or owner has taken over; `actual` holds its epoch.
  kSequenceGap,   ///< A producer skipped numbers; `expected` and `actual` (received) say which.
  kTooLarge,      ///< Over a documented limit; `expected` holds the limit.
  kDiskFull,      ///< The disk is full. Nothing was written; try again when there is space.
  kUnavailable,   ///< Busy or stopping; try again.
  kTimeout,       ///< Not done within the time asked for.
  kCancelled,     ///< Stopped because the caller asked for it.
  kUnauthorized,  ///< A token is missing or wrong.
  kCorrupt,       ///< Stored bytes fail their checksum or break the format.
  kSchema,        ///< The file was written by a newer program.
  kStopped,       ///< The store stopped itself after a failed sync; reopen it.
  kIo,            ///< The operating system refused a read, write or open.
};

/// What the caller can do about an error.
enum class Remedy : std::uint8_t {
  kRetry,        ///< Try again, later or with fresh knowledge.
  kFixRequest,   ///< The same request will fail again: change it.
  kFixDeploy,    ///< Change the machine or the program: space, permissions, version.
  kDataCorrupt,  ///< Stored data is damaged: check it, restore a backup.
};

/// The lower-case name of a code, as it stands in JSON and logs: "not_found".
[[nodiscard]] std::string_view error_name(ErrorCode code) noexcept;
/// What to do about errors of this code when the place that made the error said nothing else.
[[nodiscard]] Remedy default_remedy(ErrorCode code) noexcept;
/// The HTTP status that stands for a code (one table for all faces).
[[nodiscard]] int http_status(ErrorCode code) noexcept;
/// The process exit status that stands for a code: 2 for a bad request, 3 for not found, …
/// (docs/cli.md).
[[nodiscard]] int exit_status(ErrorCode code) noexcept;
/// "retry", "fix_request", "fix_deploy" or "data_corrupt".
[[nodiscard]] std::string_view remedy_name(Remedy remedy) noexcept;

/// An error that a person can act on.
struct Error {
  ErrorCode code{};
  /// One or two sentences: what was wrong, where, with the offending value, and what to do.
  std::string message;
  Remedy remedy{};
  /// Numbers that programs act on; what they mean stands beside each `ErrorCode`. 0 where unused.
  std::uint64_t expected = 0;
  std::uint64_t actual = 0;

  Error(ErrorCode error_code, std::string text)
      : code{error_code}, message{std::move(text)}, remedy{default_remedy(error_code)} {}
  Error(ErrorCode error_code, std::string text, Remedy what_to_do)
      : code{error_code}, message{std::move(text)}, remedy{what_to_do} {}

  /// The same error with its numbers set.
  [[nodiscard]] Error with(std::uint64_t expected_value, std::uint64_t actual_value) && {
    expected = expected_value;
    actual = actual_value;
    return std::move(*this);
  }
};

/// A value, or the error that kept it from being made.
template <typename T>
using Result = std::expected<T, Error>;

/// Makes the failed `Result` of any type: `return fail(ErrorCode::kNotFound, "no stream 'a'");`.
[[nodiscard]] inline std::unexpected<Error> fail(ErrorCode code, std::string message) {
  return std::unexpected<Error>{Error{code, std::move(message)}};
}
/// Passes an error on: `if (!r) return fail(std::move(r.error()));`.
[[nodiscard]] inline std::unexpected<Error> fail(Error error) {
  return std::unexpected<Error>{std::move(error)};
}

}  // namespace holdfast
