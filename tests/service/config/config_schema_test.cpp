#include "service/config/config_schema.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

#include "proto/json.hpp"
#include "service/config/config_fields.hpp"

namespace pixhist {
namespace {

using Json = nlohmann::ordered_json;

/// The schema of "sources.*.name": down properties, and items for the list.
const Json* schema_at(const Json& root, std::string_view pattern) {
  const Json* at = &root;
  while (true) {
    const auto key = std::string(pattern.substr(0, pattern.find('.')));
    if (key == "*") {
      at = &at->at("items");
    } else {
      const auto& properties = at->at("properties");
      if (!properties.contains(key)) return nullptr;
      at = &properties.at(key);
    }
    if (pattern.find('.') == std::string_view::npos) return at;
    pattern.remove_prefix(key.size() + 1);
  }
}

TEST_CASE("config_schema: every key with description and default, nothing besides") {
  const Json schema = parse_ordered_json(schema_json());
  CHECK(schema.at("$schema") == "https://json-schema.org/draft/2020-12/schema");
  CHECK(schema.at("additionalProperties") == false);
  for (const auto& field : config_fields()) {
    CAPTURE(field.path);
    const Json* const at = schema_at(schema, field.path);
    REQUIRE(at != nullptr);
    CHECK(at->at("description") == field.advice);
    CHECK(at->at("default") == parse_ordered_json(field.default_json));
    CHECK(at->contains("x-pixhist-built") == (field.built != Built::all));
  }
  const Json* const bins = schema_at(schema, "axis.bins");
  CHECK(bins->at("type") == "integer");
  CHECK(bins->at("minimum") == 1);
  CHECK(bins->at("maximum") == 65536);
  CHECK(schema_at(schema, "log.format")->at("enum") == Json::array({"text", "json"}));
  CHECK(schema_at(schema, "log.file")->at("anyOf").at(1).at("type") == "null");
  CHECK(schema_at(schema, "ring.bytes")->at("anyOf").at(0).at("maximum") == 1ULL << 40);
  const Json* const format = schema_at(schema, "sources.*.format");
  CHECK(format->at("enum").size() == 6);
  CHECK(format->at("x-pixhist-built") == Json::array({"array10", "sls"}));
  CHECK(schema.at("properties").at("sources").at("maxItems") == 32);
}

TEST_CASE("config_schema: docs/configuration.md holds the table of this program") {
  std::ifstream file(PIXHIST_SOURCE_DIR "/docs/configuration.md");
  std::ostringstream text;
  text << file.rdbuf();
  const std::string page = text.str();
  const std::string begin = "<!-- begin: table of keys -->\n";
  const std::string end = "<!-- end: table of keys -->";
  const auto from = page.find(begin);
  const auto to = page.find(end);
  REQUIRE(from != std::string::npos);
  REQUIRE(to != std::string::npos);
  const bool same = page.substr(from + begin.size(), to - from - begin.size()) == fields_markdown();
  CHECK_MESSAGE(same, "docs/configuration.md must hold, between its two marks:\n" << fields_markdown());
}

}  // namespace
}  // namespace pixhist
