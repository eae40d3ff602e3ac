#pragma once
// JSON for files people write: keys given twice are errors, and errors say line and column.

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace pixhist {

struct JsonError {
  std::size_t line = 0;    // from 1
  std::size_t column = 0;  // from 1, in bytes
  std::string what;
  std::string key;  // path of a key given twice; else empty
};

struct StrictJson {
  nlohmann::ordered_json value;   // of a key given twice, the last one counts
  std::vector<JsonError> errors;  // several only for keys given twice
  bool parsed = false;            // false: not JSON, value is null
};

StrictJson parse_strict_json(std::string_view text);

/// One line, never throws: invalid UTF-8 is replaced. Longer texts than max_bytes end in "...".
std::string json_text(const nlohmann::ordered_json& value, std::size_t max_bytes = std::string::npos);

}  // namespace pixhist
