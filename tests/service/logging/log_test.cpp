#include "service/logging/log.hpp"

#include <doctest/doctest.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

#include "proto/json.hpp"

namespace pixhist {
namespace {

namespace fs = std::filesystem;

/// A directory that lives as long as this.
class TemporaryDirectory {
 public:
  TemporaryDirectory() : path_(fs::temp_directory_path() / ("pixhist_log_" + std::to_string(::getpid()))) {
    fs::create_directories(path_);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;  // one owner of the files
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() { fs::remove_all(path_); }
  std::string file(const char* name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

Config config_with(const std::string& file, const char* format, const char* level = "info") {
  Config config;
  config.log_file = file;
  config.log_format = format;
  config.log_level = level;
  return config;
}

TEST_CASE("log: level and format are those of the configuration, lines are in the file at once") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("a.log");
  const auto logger = make_logger(config_with(path, "json", "error"));
  logger->warn("left out");
  logger->error("value {}", 7);
  const auto lines = lines_of(path);
  REQUIRE(lines.size() == 1);
  CHECK(parse_json(lines[0]).at("message") == "value 7");

  const auto quiet = make_logger(config_with(directory.file("off.log"), "text", "off"));
  quiet->critical("left out");
  CHECK(lines_of(directory.file("off.log")).empty());
  const auto chatty = make_logger(config_with(directory.file("trace.log"), "text", "trace"));
  chatty->trace("there");
  CHECK(lines_of(directory.file("trace.log")).size() == 1);
}

TEST_CASE("log: appends, and follows a rotation when reopened") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("a.log");
  make_logger(config_with(path, "text"))->info("zero");
  const auto logger = make_logger(config_with(path, "text"));
  logger->info("one");
  fs::rename(path, directory.file("a.log.1"));
  logger->info("two");
  reopen_logs(*logger);
  logger->info("three");
  CHECK(lines_of(directory.file("a.log.1")).size() == 3);
  REQUIRE(lines_of(path).size() == 1);
  CHECK(lines_of(path)[0].find("three") != std::string::npos);
}

TEST_CASE("log: a file that cannot be opened is an error at start and keeps the old one later") {
  const TemporaryDirectory directory;
  CHECK_THROWS_WITH_AS(make_logger(config_with(directory.file("no/such/a.log"), "text")),
                       doctest::Contains("No such file or directory"), LogFileError);

  fs::create_directories(directory.file("sub"));
  const std::string path = directory.file("sub/a.log");
  const auto logger = make_logger(config_with(path, "text"));
  fs::rename(directory.file("sub"), directory.file("moved"));
  reopen_logs(*logger);
  logger->info("still here");
  const auto lines = lines_of(directory.file("moved/a.log"));
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].find("kept the old log file") != std::string::npos);
  CHECK(lines[1].find("still here") != std::string::npos);
}

TEST_CASE("log: threads may log while the file is reopened; no line is lost or torn") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("a.log");
  const auto logger = make_logger(config_with(path, "json"));
  logger->sinks().erase(logger->sinks().begin());  // not to stderr
  constexpr int lines_each = 200;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < lines_each; ++i) logger->info("line {}", i);
    });
  for (int i = 0; i < 50; ++i) reopen_logs(*logger);
  for (auto& thread : threads) thread.join();
  const auto lines = lines_of(path);
  CHECK(lines.size() == 3 * lines_each);
  int whole = 0;
  for (const auto& line : lines) whole += nlohmann::json::accept(line) ? 1 : 0;
  CHECK(whole == 3 * lines_each);
}

}  // namespace
}  // namespace pixhist
