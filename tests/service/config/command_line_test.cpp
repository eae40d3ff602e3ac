#include "service/config/command_line.hpp"

#include <doctest/doctest.h>

#include <initializer_list>

namespace pixhist {
namespace {

CommandLineResult parse(std::initializer_list<const char*> arguments) {
  std::vector<const char*> argv{"pixhistd"};
  argv.insert(argv.end(), arguments);
  return parse_command_line(static_cast<int>(argv.size()), argv.data());
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

TEST_CASE("command_line: nothing given") {
  const auto result = parse({});
  CHECK_FALSE(result.exit_code);
  CHECK_FALSE(result.arguments.config_file);
  CHECK(result.arguments.set.empty());
  CHECK_FALSE(result.arguments.check_config);
  CHECK_FALSE(result.arguments.print_schema);
  CHECK_FALSE(result.arguments.health_url);
}

TEST_CASE("command_line: arguments arrive, --set in order and to the letter") {
  const auto result =
      parse({"--config", "a.json", "--set", "axis.bins=3", "--set=sources.0.shape=[1,2]", "--set",
             "sources.0.invalid=[-1]", "--set", "sources.0.topic=", "--set", "axis.min=-5",
             R"(--set=sources=[{"name":"a","topic":"x y"}])", "--check-config", "--json"});
  REQUIRE_MESSAGE(!result.exit_code, result.text);
  CHECK(result.arguments.config_file == "a.json");
  CHECK(result.arguments.set == std::vector<std::string>{"axis.bins=3", "sources.0.shape=[1,2]",
                                                         "sources.0.invalid=[-1]",
                                                         "sources.0.topic=", "axis.min=-5",
                                                         R"(sources=[{"name":"a","topic":"x y"}])"});
  CHECK(result.arguments.check_config);
  CHECK(result.arguments.json);
  CHECK(parse({"--print-schema"}).arguments.print_schema);
  CHECK(parse({"--health", "http://127.0.0.1:9717/healthz"}).arguments.health_url ==
        "http://127.0.0.1:9717/healthz");
}

TEST_CASE("command_line: help and version print and exit 0") {
  const auto help = parse({"--help"});
  CHECK(help.exit_code == 0);
  for (const char* part : {"--config", "--set", "--check-config", "--print-schema", "--health", "--version",
                           "Exit codes", "PIXHIST__BATCH__MAX_AGE_MS", "Examples", "SIGHUP"}) {
    CAPTURE(part);
    CHECK(has(help.text, part));
  }
  const auto version = parse({"--version"});
  CHECK(version.exit_code == 0);
  CHECK(version.text.find("pixhistd ") == 0);
}

TEST_CASE("command_line: bad usage exits 2 and says what is wrong") {
  for (const auto& arguments : {std::initializer_list<const char*>{"--conifg", "a.json"},
                                {"--config"},
                                {"--set"},
                                {"stray"},
                                {"--json"},
                                {"--config", "a", "--config", "b"},
                                {"--set", "a=1", "b=2"},
                                {"--health", "u", "--check-config"},
                                {"--print-schema", "--check-config"}}) {
    const auto result = parse(arguments);
    CAPTURE(result.text);
    CHECK(result.exit_code == 2);
    CHECK(result.text.find("pixhistd: ") == 0);
    CHECK(result.text.size() > 20);
  }
  CHECK(has(parse({"--conifg", "a.json"}).text, "--conifg"));
}

}  // namespace
}  // namespace pixhist
