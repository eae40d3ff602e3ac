#include "proto/query/reply.hpp"

#include <doctest/doctest.h>

#include <string>

#include "proto/json.hpp"

using namespace pixhist;
using nlohmann::json;
using namespace std::chrono_literals;

TEST_CASE("a result, byte for byte") {
  CHECK(encode_result(7, {{"shape", {1024}}, {"dtype", "<u4"}}) ==
        R"({"v":1,"id":7,"ok":true,"result":{"dtype":"<u4","shape":[1024]}})");
  CHECK(encode_result("a", json::object()) == R"({"v":1,"id":"a","ok":true,"result":{}})");
  CHECK(encode_result(nullptr, json::object()) == R"({"v":1,"id":null,"ok":true,"result":{}})");
  CHECK(encode_result(18446744073709551615ULL, json::object()).find(":18446744073709551615,") !=
        std::string::npos);
}

TEST_CASE("an error takes its name and whether to try again from the table") {
  for (const auto& entry : error_catalog) {
    const auto reply = parse_json(encode_error(3, entry.code, "why"));
    CHECK(reply["v"] == 1);
    CHECK(reply["id"] == 3);
    CHECK(reply["ok"] == false);
    CHECK(reply["error"]["code"] == entry.name);
    CHECK(reply["error"]["retryable"] == entry.retryable);
    CHECK(reply["error"]["message"] == "why");
  }
  CHECK(entry_of(ErrorCode::busy).retryable);
  CHECK_FALSE(entry_of(ErrorCode::bad_argument).retryable);
}

TEST_CASE("bytes that are no UTF-8 are replaced, never thrown over") {
  const std::string broken = "a\xff\xc3";
  CHECK(json::accept(encode_error(broken, ErrorCode::io_error, broken)));
  CHECK(json::accept(encode_result(broken, {{broken, broken}})));
  CHECK(parse_json(encode_error(1, ErrorCode::io_error, broken))["error"]["message"] ==
        "a\xef\xbf\xbd\xef\xbf\xbd");
}

TEST_CASE("an account: every number by its name, reasons that never occurred left out") {
  FrameAccount account;
  account.accepted = 100;
  account.dropped = 7;
  account.control = 2;
  account.rejected[static_cast<std::size_t>(RejectReason::dtype)] = 3;
  account.rejected[static_cast<std::size_t>(RejectReason::size)] = 4;
  account.in_ring = 5;
  account.in_flight = 6;
  account.accumulated = 80;
  account.discarded[static_cast<std::size_t>(DiscardReason::duplicate)] = 9;
  account.missing = 11;
  account.late = 12;
  account.restarted = 13;
  account.incomplete = 16;
  account.open = 14;
  account.received_bytes = 1ULL << 60;
  account.pixel_bytes = 15;
  CHECK(to_json(account) ==
        parse_json(R"({"received":114,"accepted":100,"rejected":{"dtype":3,"size":4},"dropped":7,
    "control":2,"in_ring":5,"in_flight":6,"accumulated":80,"discarded":{"duplicate":9},"missing":11,"late":12,
    "incomplete":16,"restarted":13,"open":14,"received_bytes":1152921504606846976,"pixel_bytes":15})"));
  CHECK(to_json(FrameAccount{})["rejected"] == json::object());
  CHECK(to_json(FrameAccount{})["discarded"] == json::object());
}

TEST_CASE("a cut: per source and in total") {
  Cut cut;
  cut.run = "20260131T120000Z-0001";
  cut.state = RunState::running;
  cut.started_at = WallTime(1769860800s);
  cut.taken_at = WallTime(1769860801s + 250ms);
  cut.batches = 4;
  cut.paused_ms = 5;
  SourceCut a{.source = "a",
              .run = "20260131T120000Z-0001",
              .frames = 10,
              .first_frame = 0,
              .last_frame = 9,
              .pending = 1,
              .saturated = 2,
              .account = {}};
  a.account.accumulated = 10;
  a.account.accepted = 11;
  SourceCut b{.source = "b",
              .run = "",
              .frames = 20,
              .first_frame = {},
              .last_frame = {},
              .pending = 3,
              .saturated = 4,
              .account = {}};
  b.account.accumulated = 20;
  b.account.accepted = 23;
  cut.sources = {a, b};

  const auto out = to_json(cut);
  CHECK(out["run"] == "20260131T120000Z-0001");
  CHECK(out["state"] == "running");
  CHECK(out["started_at"] == "2026-01-31T12:00:00.000Z");
  CHECK(out["taken_at"] == "2026-01-31T12:00:01.250Z");
  CHECK(out["batches"] == 4);
  CHECK(out["paused_ms"] == 5);
  CHECK(out["saturated"] == 6);
  CHECK(out["sources"].size() == 2);
  CHECK(out["sources"]["a"]["frames"] == 10);
  CHECK(out["sources"]["a"]["first_frame"] == 0);
  CHECK(out["sources"]["a"]["last_frame"] == 9);
  CHECK(out["sources"]["a"]["pending"] == 1);
  CHECK(out["sources"]["a"]["saturated"] == 2);
  CHECK(out["sources"]["a"]["account"] == to_json(a.account));
  CHECK(out["sources"]["a"]["run"] == "20260131T120000Z-0001");
  CHECK(out["sources"]["b"]["run"].is_null());
  CHECK(out["sources"]["b"]["first_frame"].is_null());
  CHECK(out["sources"]["b"]["last_frame"].is_null());
  CHECK(out["totals"]["frames"] == 30);
  CHECK(out["totals"]["pending"] == 4);
  CHECK(out["totals"]["account"]["accepted"] == 34);
  CHECK(out["totals"]["account"]["accumulated"] == 30);

  cut.run.clear();  // between two runs
  CHECK(to_json(cut)["run"].is_null());
  CHECK(to_json(cut)["started_at"].is_null());
}

TEST_CASE("times in RFC 3339, UTC, milliseconds, rounded down") {
  CHECK(rfc3339(WallTime(0s)) == "1970-01-01T00:00:00.000Z");
  CHECK(rfc3339(WallTime(1769860800s + 123ms)) == "2026-01-31T12:00:00.123Z");
  CHECK(rfc3339(WallTime(1769860800s + 999999us)) == "2026-01-31T12:00:00.999Z");
  CHECK(rfc3339(WallTime(951782399s + 1ms)) == "2000-02-28T23:59:59.001Z");
  CHECK(rfc3339(WallTime(951782400s)) == "2000-02-29T00:00:00.000Z");
  CHECK(rfc3339(WallTime(-1ms)) == "1969-12-31T23:59:59.999Z");
}

TEST_CASE("NumPy dtype strings of the counts") {
  CHECK(numpy_dtype(StorageType::u8) == "|u1");
  CHECK(numpy_dtype(StorageType::u16) == "<u2");
  CHECK(numpy_dtype(StorageType::u32) == "<u4");
  CHECK(numpy_dtype(StorageType::f32) == "<f4");
}
