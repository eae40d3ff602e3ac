#include "service/logging/line_formatters.hpp"

#include <doctest/doctest.h>
#include <pthread.h>
#include <spdlog/details/log_msg.h>

#include <chrono>
#include <thread>

#include "proto/json.hpp"

namespace pixhist {
namespace {

template <class Formatter>
std::string line_of(const std::string& payload, spdlog::level::level_enum level = spdlog::level::warn) {
  const spdlog::log_clock::time_point time{std::chrono::milliseconds(1'738'324'800'007)};
  const spdlog::details::log_msg message(time, {}, "pixhist", level, payload);
  spdlog::memory_buf_t line;
  Formatter().clone()->format(message, line);
  return {line.data(), line.size()};
}

/// In a thread of that name.
template <class Formatter>
std::string line_in_thread(const char* name, const std::string& payload) {
  std::string line;
  std::thread([&] {
    pthread_setname_np(pthread_self(), name);
    line = line_of<Formatter>(payload);
  }).join();
  return line;
}

TEST_CASE("line_formatters: text has UTC time, level and thread") {
  CHECK(line_in_thread<TextLineFormatter>("receive-0", "frame rejected: é {}") ==
        "2025-01-31T12:00:00.007Z WARN  [receive-0] frame rejected: é {}\n");
  CHECK(line_of<TextLineFormatter>("x", spdlog::level::err).find("ERROR [") != std::string::npos);
}

TEST_CASE("line_formatters: JSON has the same, one object a line") {
  const std::string line = line_in_thread<JsonLineFormatter>("submit", "a \"b\" \\ \n\t\x01 é");
  CHECK(line.find('\n') == line.size() - 1);
  const auto j = parse_json(line);
  CHECK(j.at("time") == "2025-01-31T12:00:00.007Z");
  CHECK(j.at("level") == "warn");
  CHECK(j.at("thread") == "submit");
  CHECK(j.at("message") == "a \"b\" \\ \n\t\x01 é");
  CHECK(j.size() == 4);
  CHECK(parse_json(line_of<JsonLineFormatter>("x", spdlog::level::err)).at("level") == "error");
}

TEST_CASE("line_formatters: bytes from the wire neither begin a line nor break the JSON") {
  const std::string hostile("a\nERROR forged\r\x1B[2J\x7F\0z\xFF", 24);
  const std::string text = line_of<TextLineFormatter>(hostile);
  CHECK(text.find('\n') == text.size() - 1);
  CHECK(text.find("a\\nERROR forged\\x0d\\x1b[2J\\x7f\\x00z") != std::string::npos);
  const auto j = parse_json(line_of<JsonLineFormatter>(hostile));
  CHECK(j.at("message").get<std::string>().substr(0, 22) == hostile.substr(0, 22));
  CHECK(printable("a\tb\\n") == "a\\tb\\n");
}

}  // namespace
}  // namespace pixhist
