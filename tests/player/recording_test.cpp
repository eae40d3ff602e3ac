#include "tools/player/recording.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>

#include "tools/player/recorder.hpp"
#include "tools/player/replay.hpp"

namespace pixhist {
namespace {

namespace fs = std::filesystem;

/// A folder that goes with the test.
class Scratch {
 public:
  Scratch() {
    std::string name = (fs::temp_directory_path() / "pixhist-recording-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    folder_ = name;
  }
  ~Scratch() { fs::remove_all(folder_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::string operator/(const char* name) const { return (folder_ / name).string(); }

 private:
  fs::path folder_;
};

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void put(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

using Messages = std::vector<RecordedMessage>;

std::vector<std::byte> part(std::size_t bytes, int seed) {
  std::vector<std::byte> out(bytes);
  for (std::size_t i = 0; i < bytes; ++i) out[i] = static_cast<std::byte>(i * 7 + seed);
  return out;
}

Messages some_messages(int count = 5) {
  Messages messages;
  for (int i = 0; i < count; ++i) messages.push_back({part(40, i), part(1000 + i, 3 * i)});
  messages.push_back({part(0, 0)});
  messages.push_back({part(1, 9), part(0, 0), part(3, 1)});
  return messages;
}

void write_all(const std::string& path, const Messages& messages) {
  RecordingWriter writer(path, false);
  for (const auto& message : messages) {
    const std::vector<std::span<const std::byte>> views(message.begin(), message.end());
    writer.write(views);
  }
  writer.close();
}

Messages read_all(const std::string& path) {
  Messages messages;
  RecordingReader reader(path);
  for (RecordedMessage message; reader.next(message);) messages.push_back(message);
  return messages;
}

TEST_CASE("a recording to the byte") {
  const Scratch scratch;
  write_all(scratch / "a", {{part(2, 0x10), {}}, {part(1, 5)}});
  const std::string expected(
      "\2\0\0\0"
      "\2\0\0\0\0\0\0\0"
      "\x10\x17"
      "\0\0\0\0\0\0\0\0"
      "\1\0\0\0"
      "\1\0\0\0\0\0\0\0"
      "\5",
      4 + 8 + 2 + 8 + 4 + 8 + 1);
  CHECK(content_of(scratch / "a") == expected);
}

TEST_CASE("what was written is read, compressed or not") {
  const Scratch scratch;
  const auto messages = some_messages();
  for (const char* name : {"plain", "packed.gz"}) {
    CAPTURE(name);
    write_all(scratch / name, messages);
    CHECK(read_all(scratch / name) == messages);
  }
  CHECK(content_of(scratch / "packed.gz").substr(0, 2) == "\x1f\x8b");
  CHECK(content_of(scratch / "packed.gz").size() < content_of(scratch / "plain").size());
  write_all(scratch / "empty", {});
  CHECK(read_all(scratch / "empty").empty());
}

TEST_CASE("a file cut anywhere but between messages is torn, and says behind how many") {
  const Scratch scratch;
  const Messages messages{{part(3, 1), part(2, 2)}, {part(4, 3)}};
  write_all(scratch / "whole", messages);
  const auto whole = content_of(scratch / "whole");
  const std::size_t first = 4 + 8 + 3 + 8 + 2;
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    CAPTURE(bytes);
    put(scratch / "cut", whole.substr(0, bytes));
    if (bytes == 0 || bytes == first) {
      CHECK(read_all(scratch / "cut").size() == (bytes == 0 ? 0 : 1));
      continue;
    }
    try {
      read_all(scratch / "cut");
      FAIL("not refused");
    } catch (const RecordingError& error) {
      const std::string behind = bytes < first ? "behind 0 whole" : "behind 1 whole";
      CHECK(std::string(error.what()).find(behind) != std::string::npos);
    }
  }
  write_all(scratch / "whole.gz", some_messages());
  const auto packed = content_of(scratch / "whole.gz");
  for (const std::size_t bytes : {packed.size() / 2, packed.size() - 9, packed.size() - 1}) {
    CAPTURE(bytes);
    put(scratch / "cut.gz", packed.substr(0, bytes));
    CHECK_THROWS_AS(read_all(scratch / "cut.gz"), RecordingError);
  }
}

TEST_CASE("what is no recording is refused without much memory") {
  const Scratch scratch;
  put(scratch / "size", std::string("\1\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff"
                                    "abc",
                                    15));
  put(scratch / "count", std::string("\xff\xff\xff\xff", 4));
  put(scratch / "no_part", std::string("\0\0\0\0", 4));
  for (const char* name : {"size", "count", "no_part", "missing"}) {
    CAPTURE(name);
    CHECK_THROWS_AS(read_all(scratch / name), RecordingError);
  }
  CHECK_THROWS_AS(RecordingWriter(scratch / "size", false), RecordingError);
  CHECK_NOTHROW(RecordingWriter(scratch / "size", true));
  CHECK_THROWS_AS(RecordingWriter(scratch / "no/folder", false), RecordingError);
}

// Replays `file` as settings say into a recorder, and returns the path of what was recorded.
ReplayReport play_into(const std::string& recorded, ReplaySettings settings, std::uint64_t messages) {
  RecorderSettings recorder_settings;
  recorder_settings.endpoints = {"tcp://127.0.0.1:*"};
  recorder_settings.bind = true;
  recorder_settings.subscribe = settings.socket.kind == PlayerSocketSettings::Kind::pub;
  recorder_settings.file = recorded;
  recorder_settings.messages = messages;
  recorder_settings.duration = std::chrono::seconds(30);
  Recorder recorder(recorder_settings);
  std::atomic<bool> never{false};
  auto report = std::async(std::launch::async, [&] { return recorder.record(never); });
  settings.socket.endpoint = recorder.endpoints().front();
  Replay replay(settings);
  replay.socket().wait_for_subscriber(
      [&] { return report.wait_for(std::chrono::seconds(0)) == std::future_status::ready; });
  replay.play(never);
  const auto sent = replay.close(std::chrono::steady_clock::now() + std::chrono::seconds(20));
  CHECK(report.get().stopped_by == RecorderReport::StoppedBy::messages);
  return sent;
}

TEST_CASE("a replay recorded is the recording again") {
  const Scratch scratch;
  const auto messages = some_messages(200);
  write_all(scratch / "original", messages);
  ReplaySettings settings;
  settings.file = scratch / "original";
  SUBCASE("over PUSH, from memory") {}
  SUBCASE("over PUB") { settings.socket.kind = PlayerSocketSettings::Kind::pub; }
  SUBCASE("read anew") { settings.memory = 100; }
  SUBCASE("at a rate") { settings.rate_hz = 2000; }
  const auto sent = play_into(scratch / "again", settings, messages.size());
  CHECK(sent.messages == messages.size());
  CHECK(sent.flushed);
  CHECK(sent.loops == 1);
  CHECK(sent.refused == 0);
  CHECK(content_of(scratch / "again") == content_of(scratch / "original"));
}

TEST_CASE("a loop repeats the bytes as they are") {
  const Scratch scratch;
  const auto messages = some_messages();
  write_all(scratch / "original.gz", messages);
  ReplaySettings settings;
  settings.file = scratch / "original.gz";
  settings.loops = 3;
  SUBCASE("from memory") {}
  SUBCASE("read anew") { settings.memory = 100; }
  const auto sent = play_into(scratch / "again.gz", settings, 3 * messages.size());
  CHECK(sent.loops == 3);
  auto expected = messages;
  expected.insert(expected.end(), messages.begin(), messages.end());
  expected.insert(expected.end(), messages.begin(), messages.end());
  CHECK(read_all(scratch / "again.gz") == expected);
}

TEST_CASE("nothing is sent of a torn or empty file") {
  const Scratch scratch;
  write_all(scratch / "whole", some_messages());
  const auto whole = content_of(scratch / "whole");
  put(scratch / "torn", whole.substr(0, whole.size() - 1));
  put(scratch / "empty", "");
  for (const char* name : {"torn", "empty"}) {
    ReplaySettings settings;
    settings.file = scratch / name;
    CHECK_THROWS_AS(Replay{settings}, RecordingError);
  }
}

TEST_CASE("recordings of real detectors survive replay and record") {
  const char* cases = std::getenv("PIXHIST_CASES");
  if (cases == nullptr) {
    MESSAGE("skipped: PIXHIST_CASES does not name the folder of recorded streams");
    return;
  }
  const Scratch scratch;
  for (const char* name : {"sls/jungfrau_badname_5f.zmqrec.gz", "dectris/v1_eiger4m_u16.zmqrec"}) {
    CAPTURE(name);
    ReplaySettings settings;
    settings.file = (fs::path(cases) / name).string();
    const auto messages = read_all(settings.file);
    REQUIRE(messages.size() >= 3);
    const auto again = scratch / "again";
    fs::remove(again);
    play_into(again, settings, messages.size());
    CHECK(read_all(again) == messages);
  }
}

}  // namespace
}  // namespace pixhist
