// POST of a stream: append, close, or both, with or without a producer.
#include <utility>

#include <fmt/format.h>

#include "core/log/names.h"
#include "http/json_body.h"
#include "http/offset_token.h"
#include "http/stream_routes.h"

namespace holdfast::http {
namespace {

std::unexpected<Error> bad(std::string message) {
  return fail(ErrorCode::kInvalidArgument, std::move(message));
}

Result<std::uint64_t> producer_number(std::string_view name, std::string_view text) {
  const auto number = parse_decimal(text);
  // Clients count in doubles: beyond 2^53 they would no longer see a difference of one.
  if (!number || *number > (std::uint64_t{1} << 53)) {
    return bad(fmt::format("{} is '{}': it must be a whole number from 0 to 2^53", name,
                           core::printable(text)));
  }
  return *number;
}

Result<std::optional<Producer>> producer_of(const Request& request) {
  const auto id = request.header("Producer-Id");
  const auto epoch = request.header("Producer-Epoch");
  const auto seq = request.header("Producer-Seq");
  if (!id && !epoch && !seq) return std::nullopt;
  if (!id || !epoch || !seq) {
    return bad("Producer-Id, Producer-Epoch and Producer-Seq belong together: send all or none");
  }
  if (id->empty()) return bad("Producer-Id is empty");
  auto epoch_number = producer_number("Producer-Epoch", *epoch);
  if (!epoch_number) return fail(std::move(epoch_number.error()));
  auto seq_number = producer_number("Producer-Seq", *seq);
  if (!seq_number) return fail(std::move(seq_number.error()));
  return Producer{.id = std::string{*id}, .epoch = *epoch_number, .seq = *seq_number};
}

Result<AppendOptions> append_options(const Request& request) {
  AppendOptions options;
  auto producer = producer_of(request);
  if (!producer) return fail(std::move(producer.error()));
  options.producer = std::move(*producer);
  const auto closed = request.header("Stream-Closed");
  options.close = closed && equals_ignoring_case(trimmed(*closed), "true");
  options.stream_seq = std::string{request.header("Stream-Seq").value_or("")};
  if (request.body.empty()) {
    if (!options.close) {
      return bad("the body is empty: send what to append, or Stream-Closed: true to close");
    }
    return options;
  }
  options.content_type = std::string{trimmed(request.header("Content-Type").value_or(""))};
  if (options.content_type.empty()) {
    return bad("Content-Type is missing: send the stream's own");
  }
  return options;
}

Response appended_response(const Result<Appended>& result, bool with_producer,
                           std::uint64_t received_seq) {
  if (!result) {
    const Error& error = result.error();
    Response response = error_response(error);
    if (error.code == ErrorCode::kClosed) {
      response.set("Stream-Closed", "true");
      response.set("Stream-Next-Offset", offset_token(Offset{error.actual}));
    } else if (error.code == ErrorCode::kFenced) {
      response.set("Producer-Epoch", std::to_string(error.actual));
    } else if (error.code == ErrorCode::kSequenceGap) {
      response.set("Producer-Expected-Seq", std::to_string(error.expected));
      response.set("Producer-Received-Seq", std::to_string(received_seq));
    }
    return response;
  }
  const bool wrote = with_producer && !result->duplicate && result->first != result->next;
  Response response{wrote ? 200 : 204};
  response.set("Stream-Next-Offset", offset_token(result->next));
  if (result->closed) response.set("Stream-Closed", "true");
  if (with_producer) {
    response.set("Producer-Epoch", std::to_string(result->producer_epoch));
    response.set("Producer-Seq", std::to_string(result->producer_seq));
  }
  return response;
}

}  // namespace

void StreamRoutes::append(const Request& request, const std::string& name, Done done) {
  auto append = append_options(request);
  if (!append) return done(AppendOutcome{error_response(append.error())});
  auto opened = cache.open(name);
  if (!opened) return done(AppendOutcome{error_response(opened.error())});
  std::vector<Bytes> chunks;
  if (!request.body.empty()) {
    if (is_json((*opened)->content_type) && is_json(append->content_type)) {
      auto values = split_json_body(request.body);
      if (values && values->empty()) {
        values = bad("the JSON array is empty: there is nothing to append");
      }
      if (!values) return done(AppendOutcome{error_response(values.error())});
      chunks.assign(values->begin(), values->end());
    } else {
      chunks.push_back(request.body);
    }
  }
  const bool with_producer = append->producer.has_value();
  const std::uint64_t seq = with_producer ? append->producer->seq : 0;
  const std::uint64_t count = chunks.size();
  const std::uint64_t bytes = request.body.size();
  // The stream's callbacks are copied; what they carry is not.
  auto shared_done = std::make_shared<Done>(std::move(done));
  Stream stream = (*opened)->stream;
  stream.append_async(
      std::move(chunks), std::move(*append),
      [this, shared_done, count, bytes, with_producer, seq, name](const Result<Appended>& result) {
        AppendOutcome outcome{appended_response(result, with_producer, seq)};
        if (result && !result->duplicate) {
          outcome.chunks = count;
          outcome.bytes = bytes;
        }
        if (!result && result.error().code == ErrorCode::kNotFound) {
          cache.drop(name);
          outcome.try_again = true;
        }
        (*shared_done)(std::move(outcome));
      });
}

}  // namespace holdfast::http
