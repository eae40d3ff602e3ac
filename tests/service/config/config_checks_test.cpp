#include "service/config/config_checks.hpp"

#include <doctest/doctest.h>

#include "tests/service/config/load_for_test.hpp"

namespace pixhist {
namespace {

using test::has;
using test::load_set;
using test::rule_at;
using test::two_modules;

std::string warning_at(const LoadResult& result, const std::string& path) {
  std::string what;
  for (const auto& warning : result.warnings) what += warning.path == path ? warning.what : "";
  return what;
}

TEST_CASE("config_checks: axis limits, type pairs and maps") {
  CHECK(has(rule_at(load_set({"axis.min=5", "axis.max=5"}), "axis"), "allowed: xmin < xmax"));
  // Equal after conversion to float only.
  CHECK(has(rule_at(load_set({"axis.min=16777216", "axis.max=16777217"}), "axis"), "allowed: xmin < xmax"));
  CHECK(
      load_set({"axis.min=16777216", "axis.max=16777217", "detector.pixel_type=i32", "axis.bins=1"}).config);
  CHECK(has(rule_at(load_set({"axis.max=1e39"}), "axis"), "xmax"));
  CHECK(has(rule_at(load_set({"axis.type=double"}), "axis.type"), "double with u32, i32, f32, f64"));
  CHECK(has(rule_at(load_set({"axis.type=float", "detector.pixel_type=u32"}), "axis.type"),
            "allowed: float with"));
  CHECK(load_set({"axis.type=double", "detector.pixel_type=f32"}).config);
  CHECK(has(rule_at(load_set({"axis.map=adc", "detector.pixel_type=i16"}), "axis.map"),
            "allowed: maps other than raw"));
  for (const char* map : {"raw", "adc", "gain", "adc_g0", "adc_g1", "adc_g2"}) {
    CAPTURE(map);
    CHECK(load_set({std::string("axis.map=") + map}).config);
  }
  // Independent faults are told together.
  const auto both = load_set(
      {"axis.min=5", "axis.max=1", "axis.map=adc", "detector.pixel_type=u8", "sources.0.invalid=[256]"});
  CHECK(both.errors.size() == 3);
  CHECK_FALSE(rule_at(both, "axis").empty());
  CHECK_FALSE(rule_at(both, "axis.map").empty());
  CHECK(has(rule_at(both, "sources.0.invalid"), "no value of pixel type u8"));
  CHECK(has(both.error_text(), "sources.0.invalid: given [256] (--set); invalid value 256"));
}

TEST_CASE("config_checks: invalid values are those of the pixel type") {
  CHECK(load_set({"sources.0.invalid=[65535,65534]"}).config);
  CHECK_FALSE(load_set({"sources.0.invalid=[-1]"}).config);
  CHECK_FALSE(load_set({"sources.0.invalid=[0.5]"}).config);
  CHECK(load_set({"sources.0.invalid=[0.5]", "detector.pixel_type=f32"}).config);
}

TEST_CASE("config_checks: sizes that no ring record or no memory holds") {
  const auto frame =
      load_set({"detector.rows=65536", "detector.cols=32768", "axis.bins=1", "ring.bytes=64GiB"});
  CHECK(has(rule_at(frame, "detector"), "a frame of 4294967296 bytes; allowed: at most 4294967280"));
  CHECK(has(rule_at(load_set({"ring.bytes=4194303"}), "ring.bytes"),
            "allowed: at least 4194304 bytes (4.0 MiB)"));
  CHECK(load_set({"ring.bytes=4194304"}).config);
  CHECK(has(rule_at(load_set(two_modules({"ring.bytes=8388607"})), "ring.bytes"), "at least 8388608"));
  CHECK(load_set(two_modules({"ring.bytes=8388608"})).config);
}

TEST_CASE("config_checks: several sources need names, shapes and places of their own") {
  const auto good = load_set(two_modules());
  REQUIRE_MESSAGE(good.config, good.error_text());
  CHECK(good.warnings.empty());
  CHECK(good.config->sources[1].place == Place{512, 0});

  const auto bare = load_set({"sources.1.endpoint=tcp://h:1"});
  CHECK(has(rule_at(bare, "sources.0.shape"), "needed with several sources"));
  CHECK(has(rule_at(bare, "sources.1.shape"), "needed with several sources"));
  CHECK(has(rule_at(bare, "sources.0.origin"), "needed with several sources"));
  CHECK(has(rule_at(bare, "sources.1.origin"), "needed with several sources"));
  CHECK(bare.errors.size() == 4);

  CHECK(has(rule_at(load_set(two_modules({"sources.1.origin=[511,0]"})), "sources"), "overlap"));
  CHECK(has(rule_at(load_set(two_modules({"sources.1.origin=[513,0]"})), "sources"), "leaves the detector"));
  CHECK(has(rule_at(load_set({"sources.0.origin=[1,0]"}), "sources"), "leaves the detector"));
  CHECK(load_set({"sources.0.origin=[1,0]", "sources.0.shape=[511,1024]"}).config);
  CHECK(rule_at(load_set(two_modules({"sources.1.name=module0"})), "sources.1.name") ==
        "already the name of sources.0; allowed: a name for each source alone");
  // A refused value is not judged a second time in company.
  CHECK(load_set(two_modules({"sources.1.origin=[512]"})).errors.size() == 1);
  CHECK(load_set(two_modules({"sources.1.format=odin", "sources.1.origin=null"})).errors.size() == 1);
}

TEST_CASE("config_checks: sources of sls whose place is not known yet must have room all the same") {
  const auto ports = [](std::vector<std::string> more) {
    for (const auto* const s : {"sources.0.format=sls", "sources.1.format=sls", "sources.0.shape=[256,1024]",
                                "sources.1.shape=[256,1024]", "sources.1.endpoint=tcp://h:2"})
      more.insert(more.begin(), s);
    return load_set(more);
  };
  CHECK_MESSAGE(ports({}).config, ports({}).error_text());
  CHECK(
      has(rule_at(ports({"sources.1.shape=[256,1025]"}), "sources.1.shape"), "at most detector.rows (512)"));
  CHECK(has(rule_at(ports({"sources.1.shape=[513,1]"}), "sources.1.shape"), "larger than the detector"));
  CHECK(has(rule_at(ports({"sources.1.shape=[257,1024]"}), "sources"), "525312 pixels together"));
  CHECK(ports({"sources.1.shape=[256]"}).errors.size() == 1);
}

TEST_CASE("config_checks: sls sends integers") {
  for (const auto* const type : {"f32", "f64"}) {
    const auto loaded = load_set({"sources.0.format=sls", std::string("detector.pixel_type=") + type});
    CHECK(has(rule_at(loaded, "sources.0.format"), "allowed with sls: u8, u16, u32, i16, i32"));
    CHECK(load_set({std::string("detector.pixel_type=") + type}).config);
  }
  CHECK(load_set({"sources.0.format=sls", "detector.pixel_type=i16"}).config);
}

TEST_CASE("config_checks: endpoint and endpoints") {
  const auto both = load_set({"sources.0.endpoint=tcp://h:1", R"(sources.0.endpoints=["tcp://h:2"])"});
  CHECK(has(rule_at(both, "sources.0.endpoint"), "excluded by sources.0.endpoints"));
  // The default spelled out is never refused.
  const auto spelled =
      load_set({"sources.0.endpoint=tcp://127.0.0.1:30001", R"(sources.0.endpoints=["tcp://h:2"])"});
  REQUIRE_MESSAGE(spelled.config, spelled.error_text());
  CHECK(spelled.config->sources[0].endpoints == std::vector<std::string>{"tcp://h:2"});
  // The same twice: two sockets, which can connect, but not bind.
  const std::string twice = R"(sources.0.endpoints=["tcp://h:2","tcp://h:2"])";
  CHECK(load_set({twice}).config->sources[0].endpoints.size() == 2);
  CHECK(has(rule_at(load_set({twice, "sources.0.bind=true"}), "sources.0.endpoints"),
            "is bound by sources.0.endpoints"));
  CHECK(has(rule_at(load_set({"sources.0.endpoint=tcp://127.0.0.1:5556", "sources.0.bind=true"}),
                    "sources.0.endpoint"),
            "is bound by query.endpoint already"));
  CHECK(has(rule_at(load_set({"sources.0.endpoint=tcp://*:30001"}), "sources.0.endpoint"),
            "cannot be connected to"));
  CHECK(load_set({"sources.0.endpoint=tcp://*:30001", "sources.0.bind=true"}).config);
  // Ports the system chooses are never the same.
  CHECK(load_set({"sources.0.endpoint=tcp://127.0.0.1:*", "sources.0.bind=true",
                  "query.endpoint=tcp://127.0.0.1:*"})
            .config);
}

TEST_CASE("config_checks: warnings") {
  const auto comb = load_set({"axis.bins=1000"});
  CHECK(comb.config);
  CHECK(has(warning_at(comb, "axis.bins"), "a bin is 16.384 values wide"));
  CHECK(has(warning_at(comb, "axis.bins"), "1024 bins would be even"));
  CHECK(warning_at(load_set({"axis.bins=1000", "detector.pixel_type=f32"}), "axis.bins").empty());
  CHECK(has(warning_at(load_set({"axis.min=0.5"}), "axis.bins"), "comb"));
  CHECK(has(warning_at(load_set({"axis.max=3", "axis.bins=8"}), "axis.bins"), "3 bins would be even"));

  CHECK(has(warning_at(load_set({"batch.bytes=4KiB"}), "batch.bytes"), "each batch holds one frame"));
  CHECK(has(warning_at(load_set({"sources.0.on_full=wait"}), "sources.0.on_full"), "wait on a sub socket"));
  CHECK(load_set({"sources.0.on_full=wait", "sources.0.socket=pull"}).warnings.empty());

  const std::string same = "sources.1.endpoint=tcp://127.0.0.1:30001";
  CHECK(has(warning_at(load_set(two_modules({same})), "sources.1"), "both get every frame"));
  CHECK(load_set(two_modules({same, "sources.1.topic=b"})).warnings.empty());
  CHECK(has(warning_at(load_set(two_modules({same, "sources.0.socket=pull", "sources.1.socket=pull"})),
                       "sources.1"),
            "goes to one of the two only"));

  const std::string twice = R"(sources.0.endpoints=["tcp://a:1","tcp://a:1"])";
  CHECK(has(warning_at(load_set({twice}), "sources.0.endpoints"), "subscribes to tcp://a:1 twice"));
  CHECK(load_set({twice, "sources.0.socket=pull"}).warnings.empty());
  CHECK(load_set({R"(sources.0.endpoints=["tcp://a:1","tcp://a:2"])"}).warnings.empty());
}

TEST_CASE("config_checks: per_run needs two cuts of the whole detector within snapshot.max_bytes") {
  const std::vector<std::string> small{"detector.rows=10", "detector.cols=100", "axis.bins=60", "axis.max=60",
                                       "runs.policy=per_run"};
  const auto with = [&](const std::string& max_bytes) {
    auto set = small;
    set.push_back("snapshot.max_bytes=" + max_bytes);
    return load_set(std::move(set));
  };
  const auto refused = rule_at(with("511999"), "snapshot.max_bytes");  // 2 * 1000 pixels * (60 + 4) * 4
  CHECK(has(refused, "two cuts of 256000 bytes (250.0 KiB)"));
  CHECK(has(refused, "allowed: at least 512000 bytes"));
  CHECK(has(refused, "lower axis.bins"));
  const auto least = with("512000");
  REQUIRE_MESSAGE(least.config, least.error_text());
  CHECK(has(warning_at(least, "snapshot.max_bytes"), "leave 0 bytes for other snapshots"));
  CHECK(with("768000").warnings.empty());
  CHECK(load_set({"snapshot.max_bytes=1"}).config);  // continuous needs none
  CHECK_FALSE(
      rule_at(load_set({"runs.policy=per_run"}), "snapshot.max_bytes").empty());  // 4 GiB and a little
}

}  // namespace
}  // namespace pixhist
