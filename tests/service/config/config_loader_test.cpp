#include "service/config/config_loader.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/service/config/load_for_test.hpp"

namespace pixhist {
namespace {

using namespace std::chrono_literals;
using test::has;
using test::load_set;
using test::load_text;
using test::rule_at;

/// The documented full set, spelled out here a second time on purpose.
constexpr const char* all_defaults = R"(
{"detector":{"rows":512,"cols":1024,"pixel_type":"u16"},
 "axis":{"bins":1024,"min":0,"max":16384,"type":null,"map":"raw","unit":"ADU"},
 "sources":[{"name":"module0","endpoint":"tcp://127.0.0.1:30001","endpoints":[],"socket":"sub","bind":false,"topic":"","format":"array10",
   "origin":null,"shape":null,"channel":null,"on_full":null,"on_incomplete":"accumulate","invalid":null,"mask_file":null,
   "sequence":{"window":1024,"step":1},"curve_server_key":null,"forward":null}],
 "device":{"kind":"auto","index":0,"policy":"auto","cpu_threads":0},
 "batch":{"frames":255,"bytes":"64MiB","max_age_ms":200}, "ring":{"bytes":"1GiB","rcvhwm_bytes":"256MiB"},
 "runs":{"policy":"continuous","close_after_s":10,"autostart":true},
 "query":{"endpoint":"tcp://127.0.0.1:5556","max_reply_bytes":null,"max_pending":64,"max_pending_per_client":8,"allow_control":"loopback"},
 "snapshot":{"max_bytes":"4GiB","max_held":4,"ttl_s":60}, "publish":{"endpoint":null,"every_ms":1000},
 "http":{"listen":"127.0.0.1:9717"}, "live":{"listen":null},
 "checkpoint":{"directory":null,"every_s":60,"compress":"lz4"}, "save":{"directory":null}, "curve":{"secret_key_file":null,"clients_dir":null},
 "log":{"format":"text","level":"info","file":null}, "shutdown":{"receive_grace_ms":1000,"timeout_s":30}})";

TEST_CASE("config_loader: defaults") {
  const auto result = load_set({});
  REQUIRE_MESSAGE(result.config, result.error_text());
  CHECK(result.errors.empty());
  CHECK(result.warnings.empty());
  CHECK(result.origins.empty());
  const Config& c = *result.config;
  CHECK(c.detector == FrameShape{512, 1024});
  CHECK(c.pixel_type == PixelType::u16);
  CHECK(c.axis == AxisSpec{1024, 0, 16384, AxisType::f32});
  CHECK(c.map == ValueMap::raw);
  CHECK(c.axis_unit == "ADU");
  REQUIRE(c.sources.size() == 1);
  const SourceConfig& s = c.sources[0];
  CHECK(s.name == "module0");
  CHECK(s.endpoints == std::vector<std::string>{"tcp://127.0.0.1:30001"});
  CHECK(s.socket == SocketKind::sub);
  CHECK_FALSE(s.bind);
  CHECK(s.topic.empty());
  CHECK(s.format == "array10");
  CHECK(s.shape == FrameShape{512, 1024});
  CHECK(s.place == Place{});
  CHECK(s.on_full == OnFull::drop);
  CHECK(s.on_incomplete == OnIncomplete::accumulate);
  CHECK(s.mask.empty());
  CHECK(s.invalid_values.empty());
  CHECK(s.sequence.window == 1024);
  CHECK(s.sequence.step == 1);
  CHECK(c.device == DeviceKind::automatic);
  CHECK(c.device_index == 0);
  CHECK(c.cpu_threads == 0);
  CHECK(c.batch_frames == 255);
  CHECK(c.batch_bytes == 64ULL << 20);
  CHECK(c.batch_max_age == 200ms);
  CHECK(c.ring_bytes == 1ULL << 30);
  CHECK(c.rcvhwm_bytes == 256ULL << 20);
  CHECK(c.runs_policy == RunsPolicy::continuous);
  CHECK(c.autostart);
  CHECK(c.query_endpoint == "tcp://127.0.0.1:5556");
  CHECK(c.max_reply_bytes == 512ULL * 1024 * 1024 * 4);
  CHECK(c.max_pending == 64);
  CHECK(c.max_pending_per_client == 8);
  CHECK(c.allow_control == AllowControl::loopback);
  CHECK(c.snapshot_max_bytes == 4ULL << 30);
  CHECK(c.snapshot_max_held == 4);
  CHECK(c.snapshot_ttl == 60s);
  CHECK(c.http_listen == "127.0.0.1:9717");
  CHECK(c.log_format == "text");
  CHECK(c.log_level == "info");
  CHECK_FALSE(c.log_file);
  CHECK(c.receive_grace == 1000ms);
  CHECK(c.shutdown_timeout == 30s);
}

TEST_CASE("config_loader: the documented full set of defaults, spelled out, loads and changes nothing") {
  const auto spelled_out = load_text(all_defaults);
  REQUIRE_MESSAGE(spelled_out.config, spelled_out.error_text());
  CHECK(spelled_out.effective_json == load_set({}).effective_json);
}

TEST_CASE("config_loader: every value other than the default arrives") {
  const auto result = load_text(R"({
    "detector":{"rows":37,"cols":53,"pixel_type":"f32"},
    "axis":{"bins":45,"min":-2.5,"max":1e4,"type":"double","unit":"keV"},
    "sources":[{"name":"a.b","endpoints":["tcp://10.0.0.1:1","ipc:///run/x"],"socket":"pull","bind":true,"topic":"t",
      "shape":[30,50],"origin":[7,3],"on_full":"drop","invalid":[-1.5,0],"sequence":{"window":64,"step":0}}],
    "device":{"kind":"cpu","index":2,"cpu_threads":3},
    "batch":{"frames":7,"bytes":8192,"max_age_ms":20}, "ring":{"bytes":"8MiB","rcvhwm_bytes":"1MiB"},
    "runs":{"autostart":false},
    "query":{"endpoint":"tcp://*:6000","max_reply_bytes":1000,"max_pending":5,"max_pending_per_client":2,"allow_control":"none"},
    "snapshot":{"max_bytes":"1GiB","max_held":2,"ttl_s":5}, "http":{"listen":"0.0.0.0:80"},
    "log":{"format":"json","level":"debug","file":"/tmp/x.log"}, "shutdown":{"receive_grace_ms":0,"timeout_s":9}})");
  REQUIRE_MESSAGE(result.config, result.error_text());
  const Config& c = *result.config;
  CHECK(c.detector == FrameShape{37, 53});
  CHECK(c.pixel_type == PixelType::f32);
  CHECK(c.axis == AxisSpec{45, -2.5, 1e4, AxisType::f64});
  CHECK(c.axis_unit == "keV");
  const SourceConfig& s = c.sources.at(0);
  CHECK(s.name == "a.b");
  CHECK(s.endpoints == std::vector<std::string>{"tcp://10.0.0.1:1", "ipc:///run/x"});
  CHECK(s.socket == SocketKind::pull);
  CHECK(s.bind);
  CHECK(s.topic == "t");
  CHECK(s.shape == FrameShape{30, 50});
  CHECK(s.place == Place{7, 3});
  CHECK(s.on_full == OnFull::drop);
  CHECK(s.invalid_values == std::vector<double>{-1.5, 0});
  CHECK(s.sequence.window == 64);
  CHECK(s.sequence.step == 0);
  CHECK(c.device == DeviceKind::cpu);
  CHECK(c.device_index == 2);
  CHECK(c.cpu_threads == 3);
  CHECK(c.batch_frames == 7);
  CHECK(c.batch_bytes == 8192);
  CHECK(c.batch_max_age == 20ms);
  CHECK(c.ring_bytes == 8ULL << 20);
  CHECK(c.rcvhwm_bytes == 1ULL << 20);
  CHECK_FALSE(c.autostart);
  CHECK(c.query_endpoint == "tcp://*:6000");
  CHECK(c.max_reply_bytes == 1000);
  CHECK(c.max_pending == 5);
  CHECK(c.max_pending_per_client == 2);
  CHECK(c.allow_control == AllowControl::none);
  CHECK(c.snapshot_max_bytes == 1ULL << 30);
  CHECK(c.snapshot_max_held == 2);
  CHECK(c.snapshot_ttl == 5s);
  CHECK(c.http_listen == "0.0.0.0:80");
  CHECK(c.log_format == "json");
  CHECK(c.log_level == "debug");
  CHECK(c.log_file == "/tmp/x.log");
  CHECK(c.receive_grace == 0ms);
  CHECK(c.shutdown_timeout == 9s);
  const HistogramSpec spec = c.histogram_spec(0);
  CHECK(spec.shape == FrameShape{30, 50});
  CHECK(spec.pixel_type == PixelType::f32);
  CHECK(spec.axis == c.axis);
  CHECK(spec.invalid_values == s.invalid_values);
  CHECK(spec.mask.empty());

  // What was resolved, loaded again, is the same.
  const auto again = load_text(result.effective_json);
  REQUIRE_MESSAGE(again.config, again.error_text());
  CHECK(again.effective_json == result.effective_json);
}

TEST_CASE("config_loader: nulls resolve by what stands beside them") {
  const auto pull =
      load_set({"sources.0.socket=pull", "detector.pixel_type=i32", "detector.rows=1", "detector.cols=1"});
  REQUIRE_MESSAGE(pull.config, pull.error_text());
  CHECK(pull.config->sources[0].on_full == OnFull::wait);
  CHECK(pull.config->axis.type == AxisType::f64);
  CHECK(pull.config->max_reply_bytes == 1ULL << 20);
  const auto large = load_set({"detector.rows=4096", "detector.cols=4096"});
  REQUIRE_MESSAGE(large.config, large.error_text());
  CHECK(large.config->max_reply_bytes == 4ULL << 30);
}

TEST_CASE("config_loader: a flag beats the environment beats the file beats the default") {
  const std::vector<std::pair<std::string, std::string>> environment{{"PIXHIST__BATCH__FRAMES", "30"},
                                                                     {"PIXHIST__BATCH__MAX_AGE_MS", "31"}};
  const auto result = load_text(R"({"batch":{"frames":20,"max_age_ms":21,"bytes":"1MiB"}})",
                                {"batch.frames=40"}, environment);
  REQUIRE_MESSAGE(result.config, result.error_text());
  CHECK(result.config->batch_frames == 40);
  CHECK(result.config->batch_max_age == 31ms);
  CHECK(result.config->batch_bytes == 1ULL << 20);
  CHECK(result.config->ring_bytes == 1ULL << 30);
  CHECK(result.origins.at("batch.frames") == "--set");
  CHECK(result.origins.at("batch.max_age_ms") == "PIXHIST__BATCH__MAX_AGE_MS");
  CHECK(has(result.origins.at("batch.bytes"), ".json"));
  CHECK(result.origins.size() == 3);
  CHECK(load_set({"batch.frames=1", "batch.frames=2"}).config->batch_frames == 2);
}

TEST_CASE("config_loader: a value that something better overrides is not judged, an unknown key always") {
  CHECK(load_text(R"({"sources":[{"format":"odin"}]})", {"sources.0.format=array10"}).config);
  CHECK(load_text(R"({"batch":{"frames":0}})", {"batch.frames=1"}).config);
  CHECK(rule_at(load_text(R"({"batch":{"frame":1}})", {"batch.frames=1"}), "batch.frame") ==
        "unknown key; did you mean batch.frames?");
  // In the wrong group as well: nearer than another key of this group.
  CHECK(rule_at(load_text(R"({"sources":[{"windw":5}]})", {}), "sources.0.windw") ==
        "unknown key; did you mean sources.0.sequence.window?");
  CHECK(rule_at(load_text(R"({"max_agems":5})", {}), "max_agems") ==
        "unknown key; did you mean batch.max_age_ms?");
}

TEST_CASE("config_loader: a key that is none is shown printable and short") {
  const auto odd = load_text("{\"a\\u001b[31m\":1}", {});
  REQUIRE(odd.errors.size() == 1);
  CHECK(odd.errors[0].path == "a\\x1b[31m");
  const auto longest = load_text("{\"" + std::string(1 << 20, 'k') + "\":1}", {});
  REQUIRE(longest.errors.size() == 1);
  CHECK(longest.errors[0].path.size() <= 120);
  CHECK(longest.errors[0].rule == "unknown key; --print-schema lists all");
}

TEST_CASE("config_loader: the environment") {
  const char* const process[] = {"PATH=/bin",
                                 "PIXHIST_PORT=tcp://10.0.0.1:1",
                                 "PIXHIST__LOG__FILE=/a=b",
                                 "PIXHIST__RING__BYTES",
                                 "PIXHISTORY__X=1",
                                 nullptr};
  const auto variables = read_environment(process);
  REQUIRE(variables.size() == 1);
  CHECK(variables[0].first == "PIXHIST__LOG__FILE");
  CHECK(variables[0].second == "/a=b");
  CHECK(read_environment(nullptr).empty());

  const auto mixed =
      load_config({std::nullopt, {{"PIXHIST__Batch__Frames", "9"}, {"PIXHIST_BATCH_FRAMES", "8"}}, {}});
  REQUIRE_MESSAGE(mixed.config, mixed.error_text());
  CHECK(mixed.config->batch_frames == 9);

  const auto unknown = load_config({std::nullopt, {{"PIXHIST__BATCH__FRAME", "9"}, {"PIXHIST__", "1"}}, {}});
  CHECK(rule_at(unknown, "batch.frame") == "unknown key; did you mean batch.frames?");
  CHECK(rule_at(unknown, "\"\"") == "unknown key; --print-schema lists all");
  CHECK(unknown.errors.size() == 2);
  CHECK(has(unknown.error_text(), "PIXHIST__BATCH__FRAME"));
}

TEST_CASE("config_loader: sources by index, from flags and environment, in numeric order") {
  std::vector<std::pair<std::string, std::string>> environment;
  for (int i = 11; i >= 0; --i) {
    const std::string prefix = "PIXHIST__SOURCES__" + std::to_string(i) + "__";
    environment.emplace_back(prefix + "SHAPE", "[1,1024]");
    environment.emplace_back(prefix + "ORIGIN", "[" + std::to_string(i) + ",0]");
    environment.emplace_back(prefix + "ENDPOINT", "tcp://127.0.0.1:" + std::to_string(100 + i));
  }
  const auto result =
      load_config({std::nullopt, environment, {"sources.12.shape=[1,1024]", "sources.12.origin=[12,0]"}});
  REQUIRE_MESSAGE(result.config, result.error_text());
  REQUIRE(result.config->sources.size() == 13);
  CHECK(result.config->sources[11].name == "module11");
  CHECK(result.config->sources[11].endpoints[0] == "tcp://127.0.0.1:111");
  CHECK(result.config->sources[12].place == Place{12, 0});

  const auto gap = load_set({"sources.2.name=x"});
  CHECK(rule_at(gap, "sources.2.name") ==
        "no such source; allowed: an index from 0 to 1, the last of which begins a new one");
  for (const char* bad : {"sources.-1.name=x", "sources.01.name=x", "sources.x.name=x", "sources..name=x",
                          "sources.99999999999999999999.name=x", "sources.*.name=x"}) {
    CAPTURE(bad);
    CHECK(load_set({bad}).errors.size() == 1);
  }
  // A misspelt key begins no source.
  CHECK(load_set({"sources.1.nam=x"}).errors.size() == 1);
}

TEST_CASE("config_loader: a list of sources replaces the one before it; groups as JSON are merged") {
  const std::string file = R"({"detector":{"rows":2,"cols":4},"sources":[
      {"name":"a","shape":[1,4],"origin":[0,0]},{"name":"b","endpoint":"tcp://h:1","shape":[1,4],"origin":[1,0]}]})";
  CHECK(load_text(file).config->sources.size() == 2);
  const auto one = load_text(file, {R"(sources=[{"name":"c"}])", R"(batch={"frames":3})",
                                    "batch.max_age_ms=4", R"(batch={"bytes":8192})"});
  REQUIRE_MESSAGE(one.config, one.error_text());
  REQUIRE(one.config->sources.size() == 1);
  CHECK(one.config->sources[0].name == "c");
  CHECK(one.config->sources[0].endpoints[0] == "tcp://127.0.0.1:30001");
  CHECK(one.config->batch_frames == 3);
  CHECK(one.config->batch_max_age == 4ms);
  CHECK(one.config->batch_bytes == 8192);

  CHECK(rule_at(load_set({"sources=[]"}), "sources") == "allowed: a list of 1 to 32 objects");
  CHECK(rule_at(load_set({"sources={}"}), "sources") == "allowed: a list of 1 to 32 objects");
  CHECK(has(rule_at(load_set({"sources=[1]"}), "sources.0"),
            "allowed: an object with the keys name, endpoint"));
  CHECK(has(rule_at(load_set({"batch=3"}), "batch"),
            "allowed: an object with the keys frames, bytes, max_age_ms"));
  CHECK(rule_at(load_set({R"(batch={"frames":1,"frames":2})"}), "batch.frames") == "the key is given twice");
  std::string many = "sources=[{}";
  for (int i = 0; i < 32; ++i) many += ",{}";
  CHECK(has(rule_at(load_set({many + "]"}), "sources"),
            "which has 33 elements; allowed: a list of 1 to 32 objects"));
}

TEST_CASE("config_loader: all errors at once, each with path, what was given, by whom, what is allowed") {
  const auto result =
      load_text(R"({"batch":{"frames":0,"max_age":5},"ring":{"bytes":"1GB"},"colour":1,
                                    "sources":[{"format":"odin","name":"a b","forward":"tcp://h:1"}]})",
                {"axis.bins=70000", "log.level=loud", "nonsense", "=1", "device.policy=fastest"},
                {{"PIXHIST__HTTP__LISTEN", "9717"}, {"PIXHIST__BATCH__BYTES", "12"}});
  CHECK_FALSE(result.config);
  CHECK(result.effective_json.empty());
  CHECK(rule_at(result, "batch.frames") == "allowed: an integer from 1 to 65535");
  CHECK(rule_at(result, "batch.max_age") == "unknown key; did you mean batch.max_age_ms?");
  CHECK(rule_at(result, "ring.bytes") ==
        "allowed: bytes as an integer or as text with KiB, MiB or GiB, from 64KiB to 1024GiB");
  CHECK(rule_at(result, "colour") == "unknown key; --print-schema lists all");
  CHECK(rule_at(result, "sources.0.format") == "not built yet in this version, which has: array10, sls");
  CHECK(rule_at(result, "sources.0.name") == "allowed: 1 to 64 of the characters A-Z a-z 0-9 _ . -");
  CHECK(rule_at(result, "sources.0.forward") == "not built yet in this version, which has: null");
  CHECK(rule_at(result, "axis.bins") == "allowed: an integer from 1 to 65536");
  CHECK(rule_at(result, "log.level") == "allowed: one of trace, debug, info, warn, error, off");
  CHECK(rule_at(result, "device.policy") == "allowed: one of auto, plain, scatter, tile, ranges, window");
  CHECK(rule_at(result, "http.listen") == "allowed: host:port, as 127.0.0.1:9717 or [::1]:9717");
  CHECK(has(rule_at(result, "batch.bytes"), "from 4KiB to 4GiB"));
  CHECK(result.errors.size() == 14);  // and two malformed flags

  const std::string text = result.error_text();
  CHECK(has(text, "axis.bins: given 70000 (--set); allowed: an integer from 1 to 65536\n"));
  CHECK(has(text, "http.listen: given \"9717\" (PIXHIST__HTTP__LISTEN); allowed: host:port"));
  CHECK(has(text, "--set: given \"nonsense\"; allowed: --set key=value"));
  CHECK(has(text, "--set: given \"=1\"; allowed"));
  CHECK(has(text, ".json); allowed: an integer from 1 to 65535\n"));
}

TEST_CASE("config_loader: refusals of what is not built, one key each") {
  for (const char* set : {"sources.0.format=dectris2", "sources.0.channel=threshold_1",
                          "sources.0.curve_server_key=x", "sources.0.forward=tcp://h:1",
                          "publish.endpoint=tcp://*:1", "publish.every_ms=100", "live.listen=127.0.0.1:1",
                          "checkpoint.directory=/x", "checkpoint.every_s=10", "checkpoint.compress=none",
                          "save.directory=/x", "curve.secret_key_file=/x", "curve.clients_dir=/x"}) {
    CAPTURE(set);
    const auto result = load_set({set});
    REQUIRE(result.errors.size() == 1);
    CHECK(has(result.errors[0].rule, "not built yet in this version"));
  }
}

TEST_CASE("config_loader: files that cannot be read or are no configuration") {
  const auto missing = load_config({"/nonexistent/pixhist.json", {}, {"batch.frames=0"}});
  CHECK(has(rule_at(missing, "/nonexistent/pixhist.json"), "cannot be read: No such file or directory"));
  CHECK(rule_at(missing, "batch.frames") == "allowed: an integer from 1 to 65535");
  CHECK(missing.errors.size() == 2);
  CHECK(has(load_config({"/", {}, {}}).error_text(), "the file cannot be read"));
  CHECK(has(load_text("").error_text(), "the file cannot be read: it is empty"));

  // Which sources a broken file has is not known: nothing is concluded from it.
  const auto broken = load_text("{\n \"sources\": [{},,]\n}", {"sources.5.name=x"});
  REQUIRE(broken.errors.size() == 1);
  CHECK(broken.errors[0].path == "line 2, column 17");
  CHECK(has(broken.errors[0].rule, "not valid JSON"));

  const auto twice = load_text("{\"batch\":{\"frames\":1},\n\"batch\":{\"frames\":2}}");
  CHECK(rule_at(twice, "batch") == "the key is given twice at line 2, column 1");
  CHECK(
      has(rule_at(load_text("[]"), "the configuration"), "allowed: an object with the keys detector, axis"));
  CHECK(has(rule_at(load_text(R"({"batch.frames":3})"), "batch.frames"), "nested, not joined by dots"));
  CHECK(load_text(R"({"":3})").errors.size() == 1);
  CHECK(load_text(R"({"batch":null})").errors.size() == 1);
}

TEST_CASE("config_loader: bytes that are no UTF-8 are refused, not passed on") {
  const auto result =
      load_config({std::nullopt, {{"PIXHIST__AXIS__UNIT", "\xFF\xFE"}, {"PIXHIST__\xFF", "1"}}, {}});
  CHECK(has(rule_at(result, "axis.unit"), "allowed: text of at most 32 bytes"));
  CHECK(result.errors.size() == 2);
}

TEST_CASE("config_loader: the examples in deploy/config load without errors or warnings") {
  for (const char* name : {"minimal", "jungfrau", "jungfrau-sls", "two-modules"}) {
    CAPTURE(name);
    const auto result =
        load_config({PIXHIST_SOURCE_DIR "/deploy/config/" + std::string(name) + ".json", {}, {}});
    CHECK_MESSAGE(result.config, result.error_text());
    CHECK(result.warnings.empty());
  }
}

}  // namespace
}  // namespace pixhist
