#pragma once
// JSON text, read and written. The library's parser and writer are large templates, instantiated in json.cpp
// alone: a file that calls them itself takes twice as long to compile.

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace pixhist {

/// Throws nlohmann::json::parse_error.
nlohmann::json parse_json(std::string_view text);
nlohmann::ordered_json parse_ordered_json(std::string_view text);

/// In one line, or by `indent` columns. Bytes that are no UTF-8 become U+FFFD.
std::string dump_json(const nlohmann::json& value, int indent = -1);
std::string dump_json(const nlohmann::ordered_json& value, int indent = -1);

/// Whether JSON can hold the text as it is.
bool valid_utf8(const std::string& text);

}  // namespace pixhist
