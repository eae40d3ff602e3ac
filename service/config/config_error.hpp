#pragma once
// What is wrong with a configuration: where, what was given by whom, what is allowed.

#include <string>

namespace pixhist {

struct ConfigError {
  std::string path;    // key path, or where in a file: "line 3, column 7"
  std::string given;   // JSON text of the value, shortened; "" where there is none
  std::string origin;  // "--set", "PIXHIST__BATCH__FRAMES", the file's name, "default"
  std::string rule;    // "allowed: an integer from 1 to 65535", "unknown key; did you mean batch.frames?"

  /// One line: `batch.frames: given 0 (--set); allowed: an integer from 1 to 65535`.
  std::string text() const {
    std::string line = path + ": ";
    if (!given.empty()) line += "given " + given + (origin.empty() ? "" : " (" + origin + ")") + "; ";
    line += rule;
    if (given.empty() && !origin.empty()) line += " (" + origin + ")";
    return line;
  }
};

/// Allowed, but likely not what was meant.
struct ConfigWarning {
  std::string path;
  std::string what;
  std::string text() const { return path + ": " + what; }
};

}  // namespace pixhist
