#include "service/logging/rate_limited_log.hpp"

#include <doctest/doctest.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>

#include <atomic>
#include <memory>
#include <thread>

namespace pixhist {
namespace {

using namespace std::chrono_literals;

class Capture final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  std::vector<std::string> lines;  // "W text"

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    constexpr std::string_view letters = "TDIWEC";
    lines.push_back(std::string(1, letters[static_cast<std::size_t>(message.level)]) + " " +
                    std::string(message.payload.data(), message.payload.size()));
  }
  void flush_() override {}
};

struct Fixture {
  std::shared_ptr<Capture> sink = std::make_shared<Capture>();
  spdlog::logger logger{"test", sink};
  const std::vector<std::string>& lines() const { return sink->lines; }
};

TEST_CASE_FIXTURE(Fixture, "rate_limited_log: one line per key and second, with the number left out") {
  RateLimitedLog log(logger);
  for (int i = 0; i < 5; ++i) log.log(LogLevel::warn, "m0", "size", "12 bytes {}", 10s + i * 100ms);
  log.log(LogLevel::error, "m0", "dtype", "u8", 10s + 400ms);
  log.log(LogLevel::info, "m1", "size", "13 bytes", 10s + 500ms);
  REQUIRE(lines().size() == 3);
  CHECK(lines()[0] == "W m0: 12 bytes {} (size)");
  CHECK(lines()[1] == "E m0: u8 (dtype)");
  CHECK(lines()[2] == "I m1: 13 bytes (size)");

  log.log(LogLevel::warn, "m0", "size", "14 bytes", 10s + 999ms);
  CHECK(lines().size() == 3);
  log.log(LogLevel::warn, "m0", "size", "15 bytes", 11s);
  REQUIRE(lines().size() == 4);
  CHECK(lines()[3] == "W m0: 15 bytes (size; 5 times more since the last line)");
  log.log(LogLevel::warn, "m0", "size", "16 bytes", 13s);
  CHECK(lines()[4] == "W m0: 16 bytes (size)");
}

TEST_CASE_FIXTURE(Fixture, "rate_limited_log: flush tells of what was left out when nothing follows") {
  RateLimitedLog log(logger);
  log.log(LogLevel::warn, "m0", "size", "a", 10s);
  log.log(LogLevel::warn, "m0", "size", "b", 10s);
  log.flush(10s + 900ms);
  CHECK(lines().size() == 1);
  log.flush(11s);
  REQUIRE(lines().size() == 2);
  CHECK(lines()[1] == "W m0: size, 1 time more since the last line");
  log.flush(20s, true);
  CHECK(lines().size() == 2);
  // What flush wrote counts as a line.
  log.log(LogLevel::warn, "m0", "size", "c", 11s + 500ms);
  CHECK(lines().size() == 2);
  log.flush(11s + 600ms, true);
  CHECK(lines().size() == 3);
}

TEST_CASE_FIXTURE(Fixture, "rate_limited_log: keys beyond the bound share one") {
  RateLimitedLog log(logger, 1s, 2);
  log.log(LogLevel::warn, "a", "r", "x", 1s);
  log.log(LogLevel::warn, "b", "r", "x", 1s);
  log.log(LogLevel::warn, "c", "r", "x", 1s);
  log.log(LogLevel::warn, "d", "r", "x", 1s);
  log.log(LogLevel::warn, "a", "r", "x", 1s);
  CHECK(lines() == std::vector<std::string>{"W a: x (r)", "W b: x (r)", "W c: x (r)"});
  log.flush(2s);
  REQUIRE(lines().size() == 5);
  CHECK(lines()[3] == "W a: r, 1 time more since the last line");
  CHECK(lines()[4] == "W other: other, 1 time more since the last line");
}

TEST_CASE_FIXTURE(Fixture, "rate_limited_log: from many threads every event is told or counted") {
  RateLimitedLog log(logger);
  constexpr int events = 1000;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < events; ++i) log.log(LogLevel::warn, "m0", "size", "x", 5s);
    });
  for (auto& thread : threads) thread.join();
  log.flush(5s, true);
  REQUIRE(lines().size() == 2);
  CHECK(lines()[1] == "W m0: size, 2999 times more since the last line");
}

}  // namespace
}  // namespace pixhist
