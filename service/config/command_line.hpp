#pragma once
// The arguments of pixhistd.

#include <optional>
#include <string>
#include <vector>

namespace pixhist {

struct CommandLine {
  std::optional<std::string> config_file;
  std::vector<std::string> set;  // "a.b=c", in the order given
  bool check_config = false;
  bool json = false;  // --check-config as JSON
  bool print_schema = false;
  std::optional<std::string> health_url;
  std::optional<std::string> probe;         // an endpoint
  std::optional<std::string> probe_format;  // absent: every one is tried
  std::string probe_socket = "sub";         // or pull
  unsigned probe_timeout_s = 10;
};

/// Either arguments to act on, or (--help, --version, bad usage) what to print and how to exit.
struct CommandLineResult {
  CommandLine arguments;
  std::optional<int> exit_code;  // 0: print `text` to stdout; 2: to stderr
  std::string text;
};

CommandLineResult parse_command_line(int argc, const char* const* argv);

}  // namespace pixhist
