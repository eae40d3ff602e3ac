#include "service/config/config_fields.hpp"

#include <doctest/doctest.h>

#include <set>

namespace pixhist {
namespace {

TEST_CASE(
    "config_fields: every key stands once, with advice, and its default among what is allowed and built") {
  std::set<std::string_view> seen;
  for (const auto& field : config_fields()) {
    CAPTURE(field.path);
    CHECK(seen.insert(field.path).second);
    CHECK(field.advice.size() > 10);
    CHECK(field.advice.back() == '.');
    CHECK(find_field(field.path) == &field);
    CHECK((field.type == FieldType::choice) == !field.choices.empty());
    CHECK((field.built == Built::some_choices) == !field.built_choices.empty());
    CHECK_FALSE(allowed_text(field).empty());
  }
  CHECK(find_field("batch") == nullptr);
  CHECK(find_field("") == nullptr);
}

TEST_CASE("config_fields: groups know their keys in order") {
  CHECK(child_keys("batch") == std::vector<std::string>{"frames", "bytes", "max_age_ms"});
  CHECK(child_keys("sources.*.sequence") == std::vector<std::string>{"window", "step"});
  CHECK(child_keys("").front() == "detector");
  CHECK(child_keys("").back() == "shutdown");
  CHECK(child_keys("batch.frames").empty());
  CHECK(child_keys("bat").empty());
}

TEST_CASE("config_fields: patterns and defaults of list elements") {
  CHECK(pattern_of("sources.12.name") == "sources.*.name");
  CHECK(pattern_of("sources.3") == "sources.*");
  CHECK(pattern_of("sources.x.name") == "sources.x.name");
  CHECK(pattern_of("sources") == "sources");
  CHECK(pattern_of("batch.frames") == "batch.frames");
  CHECK(default_json(*find_field("sources.*.name"), 3) == "\"module3\"");
  CHECK(default_json(*find_field("batch.frames"), 3) == "255");
}

TEST_CASE("config_fields: the nearest key") {
  CHECK(nearest_key("batch.frame") == "batch.frames");
  CHECK(nearest_key("batches.frames") == "batch.frames");
  CHECK(nearest_key("max_age_ms") == "batch.max_age_ms");
  CHECK(nearest_key("sources.2.endpont") == "sources.2.endpoint");
  CHECK(nearest_key("sources.2.sequence.stp") == "sources.2.sequence.step");
  CHECK(nearest_key("source.name") == "sources.0.name");
  CHECK_FALSE(nearest_key("colour_of_the_beam"));
  CHECK_FALSE(nearest_key(""));
}

}  // namespace
}  // namespace pixhist
