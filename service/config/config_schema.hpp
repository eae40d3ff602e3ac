#pragma once
// The table of keys for machines (JSON Schema) and for people (the table of docs/configuration.md).

#include <string>

namespace pixhist {

/// A JSON Schema document, draft 2020-12, indented, ending in a line feed. What is known but not built yet is
/// marked "x-pixhist-built" and refused by the service all the same.
std::string schema_json();

/// Markdown: one table a group of keys.
std::string fields_markdown();

}  // namespace pixhist
