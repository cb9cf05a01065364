#include "http/stream_routes.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/log/names.h"
#include "http/json_body.h"
#include "http/offset_token.h"

namespace holdfast::http {
namespace {

constexpr std::string_view kStreamPath = "/v1/stream/";
constexpr std::uint64_t kTtlSecondsMax = 3'155'760'000;  // a hundred years
constexpr std::size_t kListMax = 1'000;

bool says_true(const Request& request, std::string_view header) {
  const auto value = request.header(header);
  return value && equals_ignoring_case(trimmed(*value), "true");
}

std::unexpected<Error> bad(std::string message) {
  return fail(ErrorCode::kInvalidArgument, std::move(message));
}

// "0" or digits that do not begin with one: what the protocol takes for a number.
std::optional<std::uint64_t> strict_number(std::string_view text) {
  if (text.size() > 1 && text.front() == '0') return std::nullopt;
  return parse_decimal(text);
}

// What a client sends as a type when it has none, or nonsense, counts as not given.
std::string content_type_of(const Request& request) {
  const std::string_view type = request.header("Content-Type").value_or("");
  const std::string_view media = media_type(type);
  const std::size_t slash = media.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == media.size()) return {};
  return std::string{trimmed(type)};
}

Result<StreamOptions> creation_options(const Request& request) {
  StreamOptions options;
  options.content_type = content_type_of(request);
  options.closed = says_true(request, "Stream-Closed");
  const auto ttl = request.header("Stream-TTL");
  const auto expires = request.header("Stream-Expires-At");
  if (ttl && expires) {
    return bad("Stream-TTL and Stream-Expires-At exclude each other: send one of them");
  }
  if (ttl) {
    const auto seconds = strict_number(*ttl);
    if (!seconds || *seconds > kTtlSecondsMax) {
      return bad(fmt::format("Stream-TTL is '{}': it must be whole seconds from 0 to {}",
                             core::printable(*ttl), kTtlSecondsMax));
    }
    options.ttl = std::chrono::seconds{static_cast<std::int64_t>(*seconds)};
  }
  if (expires) {
    options.expires_at = parse_rfc3339(*expires);
    if (!options.expires_at) {
      return bad(
          fmt::format("Stream-Expires-At is '{}': it must be a moment as RFC 3339 writes it, "
                      "such as 2030-01-31T12:00:00Z",
                      core::printable(*expires)));
    }
  }
  return options;
}

struct ForkRequest {
  std::string source;
  ForkOptions where;
};

Result<std::optional<ForkRequest>> fork_request(const Request& request) {
  const auto source = request.header("Stream-Forked-From");
  const auto sub_offset = request.header("Stream-Fork-Sub-Offset");
  const auto offset = request.header("Stream-Fork-Offset");
  if (!source) {
    if (sub_offset || offset) return bad("a fork's offset needs Stream-Forked-From beside it");
    return std::nullopt;
  }
  ForkRequest fork;
  auto name = stream_name(*source);
  if (!name) return fail(std::move(name.error()));
  fork.source = std::move(*name);
  if (offset) {
    fork.where.at = parse_offset_token(*offset);
    if (!fork.where.at) {
      return bad(
          fmt::format("Stream-Fork-Offset is '{}': it must be a Stream-Next-Offset of the "
                      "source",
                      core::printable(*offset)));
    }
  }
  if (sub_offset) {
    const auto count = strict_number(*sub_offset);
    if (!count) {
      return bad(fmt::format("Stream-Fork-Sub-Offset is '{}': it must be a decimal number",
                             core::printable(*sub_offset)));
    }
    fork.where.sub_offset = *count;
  }
  return fork;
}

void describe(Response& response, const StreamInfo& info) {
  response.set("Content-Type", info.content_type);
  response.set("Stream-Next-Offset", offset_token(info.tail));
  if (info.closed) response.set("Stream-Closed", "true");
  if (info.ttl) response.set("Stream-TTL", std::to_string(info.ttl->count()));
  if (info.expires_at) response.set("Stream-Expires-At", rfc3339(*info.expires_at));
}

nlohmann::json list_entry(const StreamInfo& info) {
  nlohmann::json entry{{"name", info.name},
                       {"id", info.id.text()},
                       {"contentType", info.content_type},
                       {"first", offset_token(info.first)},
                       {"tail", offset_token(info.tail)},
                       {"closed", info.closed},
                       {"bytes", info.bytes},
                       {"created", rfc3339(info.created)}};
  if (info.ttl) entry["ttl"] = info.ttl->count();
  if (info.expires_at) entry["expiresAt"] = rfc3339(*info.expires_at);
  if (!info.forked_from.empty()) {
    entry["forkedFrom"] = info.forked_from;
    entry["forkOffset"] = offset_token(info.fork_offset);
  }
  const Retention& kept = info.retention;
  if (kept.chunks_max) entry["retention"]["chunks"] = *kept.chunks_max;
  if (kept.bytes_max) entry["retention"]["bytes"] = *kept.bytes_max;
  if (kept.age_max) entry["retention"]["ageMs"] = kept.age_max->count();
  return entry;
}

}  // namespace

Result<std::string> stream_name(std::string_view path) {
  if (!path.starts_with(kStreamPath)) {
    return bad(fmt::format("'{}' is not the path of a stream: it must begin with {}",
                           core::printable(path), kStreamPath));
  }
  auto name = percent_decode(path.substr(kStreamPath.size()));
  if (!name) {
    return bad(fmt::format("the percent-encoding of '{}' is broken", core::printable(path)));
  }
  if (auto checked = core::check_stream_name(*name); !checked) {
    return fail(std::move(checked.error()));
  }
  return std::move(*name);
}

Response StreamRoutes::create(const Request& request, const std::string& name) {
  auto stream_options = creation_options(request);
  if (!stream_options) return error_response(stream_options.error());
  auto fork = fork_request(request);
  if (!fork) return error_response(fork.error());
  const bool is_fork = fork->has_value();
  std::string type = stream_options->content_type;
  if (is_fork && type.empty() && !request.body.empty()) {
    // Whether the body is a list of JSON values is a matter of the source's type.
    auto source = cache.open((*fork)->source);
    if (source) type = (*source)->content_type;
  }
  if (!request.body.empty()) {
    if (is_json(type)) {
      auto values = split_json_body(request.body);
      if (!values) return error_response(values.error());
      stream_options->chunks = std::move(*values);
    } else {
      stream_options->chunks = {request.body};
    }
  }
  auto created = is_fork ? streams.fork((*fork)->source, name, (*fork)->where, *stream_options)
                         : streams.create(name, *stream_options);
  if (!created) {
    // A source that is kept only for its forks is in the way like a name that is taken.
    const int status = created.error().code == ErrorCode::kGone ? http_status(ErrorCode::kConflict)
                                                                : http_status(created.error().code);
    return error_response(status, created.error());
  }
  auto info = created->stream.info();
  if (!info) return error_response(info.error());
  Response response{created->created ? 201 : 200};
  describe(response, *info);
  if (created->created) {
    const auto host = request.header("Host");
    response.set("Location", host ? fmt::format("http://{}{}", *host, request.path) : request.path);
  }
  response.set("Cache-Control", "no-store");
  return response;
}

Response StreamRoutes::head(const std::string& name) {
  auto info = cache.with(name, [](const OpenedPtr& opened) { return opened->stream.info(); });
  if (!info) return error_response(info.error());
  Response response{200};
  describe(response, *info);
  response.set("Cache-Control", "no-store");
  response.set("ETag", fmt::format("\"{}:{}:{}{}\"", info->id.text(), info->first.value,
                                   info->tail.value, info->closed ? ":c" : ""));
  return response;
}

Response StreamRoutes::remove(const std::string& name) {
  auto removed = streams.remove(name);
  cache.drop(name);
  if (!removed) return error_response(removed.error());
  return Response{204};
}

Response StreamRoutes::list(const Request& request) {
  const auto query = Query::parse(request.query);
  if (!query) return error_response(bad("the query's percent-encoding is broken").error());
  std::uint64_t limit = 100;
  if (const auto given = query->get("limit")) {
    const auto number = parse_decimal(*given);
    if (!number || *number == 0 || *number > kListMax) {
      return error_response(bad(fmt::format("limit is '{}': it must be from 1 to {}",
                                            core::printable(*given), kListMax))
                                .error());
    }
    limit = *number;
  }
  auto page = streams.list(query->get("prefix").value_or(""), query->get("after").value_or(""),
                           static_cast<std::size_t>(limit));
  if (!page) return error_response(page.error());
  nlohmann::json entries = nlohmann::json::array();
  for (const StreamInfo& info : page->streams) entries.push_back(list_entry(info));
  const nlohmann::json body{{"streams", std::move(entries)}, {"nextAfter", page->next_after}};
  Response response{200};
  response.set("Content-Type", "application/json");
  response.set("Cache-Control", "no-store");
  response.body = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return response;
}

}  // namespace holdfast::http
