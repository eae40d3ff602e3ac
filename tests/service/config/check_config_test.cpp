#include "service/config/check_config.hpp"

#include <doctest/doctest.h>

#include "proto/json.hpp"
#include "tests/service/config/load_for_test.hpp"

namespace pixhist {
namespace {

using Json = nlohmann::ordered_json;
using test::has;
using test::load_set;

TEST_CASE("check_config: text shows configuration, memory, origins and warnings") {
  const auto loaded = load_set({"axis.bins=1000"});
  const MemoryPlan plan = plan_memory(*loaded.config, true);
  const std::string text = check_config_text(loaded, plan);
  CHECK(has(text, "\"bins\": 1000"));
  CHECK(has(text, "axis.bins: --set"));
  CHECK(has(text, "ring of module0"));
  CHECK(has(text, "1.0 GiB"));
  CHECK(has(text, "pinned"));
  CHECK(has(text, "device"));
  CHECK(has(text, "comb"));
}

TEST_CASE("check_config: JSON holds exact bytes, and a configuration that loads to the same") {
  const auto loaded = load_set({"axis.bins=1000", "ring.bytes=1000000000"});
  const MemoryPlan plan = plan_memory(*loaded.config, false);
  const Json j = parse_ordered_json(check_config_json(loaded, plan));
  CHECK(j.at("ok") == true);
  CHECK(j.at("config").at("ring").at("bytes") == 1000000000);
  CHECK(j.at("config").at("batch").at("bytes") == "64MiB");
  CHECK(j.at("origins").at("axis.bins") == "--set");
  CHECK(j.at("memory").at("total").at("host") == plan.total(MemoryKind::host));
  CHECK(j.at("memory").at("at_start").size() == plan.at_start.size());
  CHECK(j.at("memory").at("at_start").at(0).at("bytes") == 999997440);
  CHECK(j.at("memory").at("up_to").size() == plan.up_to.size());
  CHECK(j.at("warnings").at(0).at("path") == "axis.bins");
  CHECK(test::load_text(dump_json(j.at("config"))).effective_json == loaded.effective_json);
}

TEST_CASE("check_config: JSON of a configuration with errors lists them all") {
  const auto loaded = load_set({"axis.bins=0", "batch.frame=\xFF"});
  const Json j = parse_ordered_json(check_config_json(loaded, {}));
  CHECK(j.at("ok") == false);
  REQUIRE(j.at("errors").size() == 2);
  CHECK(j.at("errors").at(0).at("path") == "batch.frame");
  CHECK(j.at("errors").at(1).at("given") == "0");
  CHECK(j.at("errors").at(1).at("origin") == "--set");
  CHECK(has(j.at("errors").at(1).at("rule").get<std::string>(), "from 1 to 65536"));
  CHECK_FALSE(j.contains("config"));
}

}  // namespace
}  // namespace pixhist
