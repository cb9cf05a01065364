#include <holdfast/result.h>

#include <array>
#include <cstddef>

#include <holdfast/check.h>

namespace holdfast {
namespace {

struct CodeRow {
  ErrorCode code;
  std::string_view name;
  Remedy remedy;
  int http;
  int exit;
};

// The one table of error codes, in the order of the enum.
constexpr std::array kCodes{
    CodeRow{ErrorCode::kInvalidArgument, "invalid_argument", Remedy::kFixRequest, 400, 2},
    CodeRow{ErrorCode::kNotFound, "not_found", Remedy::kFixRequest, 404, 3},
    CodeRow{ErrorCode::kAlreadyExists, "already_exists", Remedy::kFixRequest, 409, 4},
    CodeRow{ErrorCode::kGone, "gone", Remedy::kFixRequest, 410, 5},
    CodeRow{ErrorCode::kConflict, "conflict", Remedy::kFixRequest, 409, 4},
    CodeRow{ErrorCode::kStale, "stale", Remedy::kRetry, 412, 4},
    CodeRow{ErrorCode::kClosed, "closed", Remedy::kFixRequest, 409, 6},
    CodeRow{ErrorCode::kFenced, "fenced", Remedy::kFixRequest, 403, 4},
    CodeRow{ErrorCode::kSequenceGap, "sequence_gap", Remedy::kFixRequest, 409, 4},
    CodeRow{ErrorCode::kTooLarge, "too_large", Remedy::kFixRequest, 413, 2},
    CodeRow{ErrorCode::kDiskFull, "disk_full", Remedy::kFixDeploy, 507, 7},
    CodeRow{ErrorCode::kUnavailable, "unavailable", Remedy::kRetry, 503, 8},
    CodeRow{ErrorCode::kTimeout, "timeout", Remedy::kRetry, 504, 8},
    CodeRow{ErrorCode::kCancelled, "cancelled", Remedy::kRetry, 499, 130},
    CodeRow{ErrorCode::kUnauthorized, "unauthorized", Remedy::kFixRequest, 401, 9},
    CodeRow{ErrorCode::kCorrupt, "corrupt", Remedy::kDataCorrupt, 500, 10},
    CodeRow{ErrorCode::kSchema, "schema", Remedy::kFixDeploy, 500, 11},
    CodeRow{ErrorCode::kStopped, "stopped", Remedy::kFixDeploy, 503, 7},
    CodeRow{ErrorCode::kIo, "io", Remedy::kFixDeploy, 500, 7},
};

const CodeRow& row(ErrorCode code) noexcept {
  const auto index = static_cast<std::size_t>(code);
  HOLDFAST_CHECK(index < kCodes.size() && kCodes[index].code == code, "error table out of order");
  return kCodes[index];
}

}  // namespace

std::string_view error_name(ErrorCode code) noexcept { return row(code).name; }
Remedy default_remedy(ErrorCode code) noexcept { return row(code).remedy; }
int http_status(ErrorCode code) noexcept { return row(code).http; }
int exit_status(ErrorCode code) noexcept { return row(code).exit; }

std::string_view remedy_name(Remedy remedy) noexcept {
  switch (remedy) {
    case Remedy::kRetry: return "retry";
    case Remedy::kFixRequest: return "fix_request";
    case Remedy::kFixDeploy: return "fix_deploy";
    case Remedy::kDataCorrupt: return "data_corrupt";
  }
  return "fix_deploy";
}

}  // namespace holdfast
