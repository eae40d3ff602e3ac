#include "service/config/config_schema.hpp"

#include "proto/json.hpp"
#include "service/config/config_fields.hpp"

namespace pixhist {
namespace {

using Json = nlohmann::ordered_json;

Json text_with_pattern(const char* pattern) { return {{"type", "string"}, {"pattern", pattern}}; }

Json integer_in(const ConfigField& field) {
  return {{"type", "integer"}, {"minimum", field.min}, {"maximum", field.max}};
}

constexpr const char* endpoint_pattern = "^(tcp://.+:([0-9]{1,5}|\\*)|ipc://[\\x21-\\x7E]{1,107})$";

Json type_schema(const ConfigField& field) {
  switch (field.type) {
    case FieldType::integer: return integer_in(field);
    case FieldType::number: return {{"type", "number"}};
    case FieldType::boolean: return {{"type", "boolean"}};
    case FieldType::text: return {{"type", "string"}, {"maxLength", field.max}};
    case FieldType::name: return text_with_pattern("^[A-Za-z0-9_.-]{1,64}$");
    case FieldType::choice: return {{"enum", field.choices}};
    case FieldType::size:
      return {{"anyOf", Json::array({integer_in(field), text_with_pattern("^[0-9]+ ?(KiB|MiB|GiB)$")})}};
    case FieldType::endpoint: return text_with_pattern(endpoint_pattern);
    case FieldType::listen: return text_with_pattern("^.+:[0-9]{1,5}$");
    case FieldType::endpoints:
      return {{"type", "array"}, {"maxItems", field.max}, {"items", text_with_pattern(endpoint_pattern)}};
    case FieldType::pair:
      return {{"type", "array"}, {"minItems", 2}, {"maxItems", 2}, {"items", integer_in(field)}};
    case FieldType::numbers:
      return {{"type", "array"}, {"maxItems", field.max}, {"items", {{"type", "number"}}}};
  }
  return Json::object();
}

Json field_schema(const ConfigField& field) {
  Json schema = type_schema(field);
  if (field.nullable) schema = {{"anyOf", Json::array({schema, {{"type", "null"}}})}};
  Json described = {{"description", std::string(field.advice)}};
  if (!field.unit.empty()) described["x-pixhist-unit"] = field.unit;
  described["default"] = parse_ordered_json(field.default_json);
  if (field.built == Built::default_only) described["x-pixhist-built"] = Json::array({described["default"]});
  if (field.built == Built::some_choices) described["x-pixhist-built"] = field.built_choices;
  described.update(schema);
  return described;
}

Json group_schema(const std::string& pattern) {
  Json properties = Json::object();
  for (const auto& key : child_keys(pattern)) {
    const std::string child = pattern.empty() ? key : pattern + "." + key;
    if (const auto* field = find_field(child)) {
      properties[key] = field_schema(*field);
    } else if (child == "sources") {
      properties[key] = {{"type", "array"},
                         {"minItems", 1},
                         {"maxItems", max_sources},
                         {"items", group_schema("sources.*")}};
    } else {
      properties[key] = group_schema(child);
    }
  }
  return {{"type", "object"}, {"additionalProperties", false}, {"properties", properties}};
}

std::string built_text(const ConfigField& field) {
  if (field.built == Built::default_only) return " *Other values are not built yet.*";
  if (field.built == Built::all) return "";
  std::string there;
  for (const auto choice : field.built_choices)
    there.append(there.empty() ? "`" : ", `").append(choice).append("`");
  return " *Built: " + there + ".*";
}

std::string escaped(std::string text) {
  for (auto at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2)) text.insert(at, "\\");
  return text;
}

/// "sources.0.name" reads better than "sources.*.name".
std::string shown_path(const ConfigField& field) {
  std::string path(field.path);
  if (const auto star = path.find('*'); star != std::string::npos) path.replace(star, 1, "N");
  return path;
}

}  // namespace

std::string schema_json() {
  Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                 {"title", "pixhistd configuration"},
                 {"description", "Every key is optional; what is left out is at its default."}};
  schema.update(group_schema(""));
  return dump_json(schema, 2) + "\n";
}

std::string fields_markdown() {
  std::string text;
  std::string group;
  for (const auto& field : config_fields()) {
    const std::string path = shown_path(field);
    const std::string its_group = path.substr(0, path.find('.'));
    if (its_group != group) {
      text += (group.empty() ? "" : "\n");
      text += "### " + its_group + "\n\n| key | default | allowed | unit | what it is, when to touch it |\n";
      text += "| --- | --- | --- | --- | --- |\n";
      group = its_group;
    }
    text += "| `" + path + "` | `" + std::string(field.default_json) + "` | " + escaped(allowed_text(field)) +
            " | " + std::string(field.unit) + " | " + escaped(std::string(field.advice) + built_text(field)) +
            " |\n";
  }
  return text;
}

}  // namespace pixhist
