// Bytes: payloads are opaque to the core; any byte may occur in them, NUL included.
#pragma once

#include <string>
#include <string_view>

namespace holdfast {

/// Owned bytes. Not text: no encoding is promised.
using Bytes = std::string;
/// Borrowed bytes; whoever hands one out says how long it lives.
using BytesView = std::string_view;

}  // namespace holdfast
