#pragma once
// Parsing in a small detector: 8 rows, 12 columns, 64 bins on [0, 128).

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "proto/query/request.hpp"
#include "tests/proto/support.hpp"

namespace pixhist::test {

inline constexpr RequestLimits limits{{8, 12}, {64, 0, 128, AxisType::f32}};

inline std::variant<Request, RequestError> parse(std::string_view text) {
  return parse_request(bytes_of(text), limits);
}

inline Request good(std::string_view text) {
  auto result = parse(text);
  if (const auto* error = std::get_if<RequestError>(&result)) FAIL(text << ": " << error->message);
  return std::get<Request>(std::move(result));
}

inline RequestError bad(std::string_view text) {
  auto result = parse(text);
  if (std::holds_alternative<Request>(result)) FAIL("taken: " << text.substr(0, 200));
  auto error = std::get<RequestError>(std::move(result));
  CHECK_FALSE(error.message.empty());
  CHECK(error.message.size() <= 400);
  CHECK(is_printable(error.message));
  return error;
}

inline std::string request(std::string_view op, std::string_view args) {
  return R"({"v":1,"id":5,"op":")" + std::string(op) + R"(","args":)" + std::string(args) + "}";
}

inline Request good_args(std::string_view op, std::string_view args) { return good(request(op, args)); }

/// Code and message; the id must have been found.
inline RequestError bad_args(std::string_view op, std::string_view args) {
  auto error = bad(request(op, args));
  CHECK(error.id == 5);
  return error;
}

inline bool says(const RequestError& error, std::string_view text) {
  if (error.message.find(text) != std::string::npos) return true;
  MESSAGE("said: " << error.message);
  return false;
}

}  // namespace pixhist::test
