#include "tools/player/player.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <future>
#include <map>
#include <thread>
#include <zmq_addon.hpp>

#include "proto/json.hpp"

namespace pixhist {
namespace {

using nlohmann::json;

/// A receiver of its own context, so that nothing is shared with the player but the wire.
class Receiver {
 public:
  explicit Receiver(zmq::socket_type type, int queue_frames = 1000) : socket_(context_, type) {
    socket_.set(zmq::sockopt::rcvhwm, queue_frames);
    if (type == zmq::socket_type::sub) socket_.set(zmq::sockopt::subscribe, "");
    socket_.set(zmq::sockopt::rcvtimeo, 20'000);
    socket_.set(zmq::sockopt::linger, 0);
    socket_.bind("tcp://127.0.0.1:*");
  }
  std::string endpoint() { return socket_.get(zmq::sockopt::last_endpoint); }

  struct Message {
    std::optional<json> header;  // none: not JSON
    std::vector<std::byte> pixels;
  };
  /// Messages up to the end mark, which is not among them. Empty end: none came in time.
  std::vector<Message> receive_run() {
    std::vector<Message> run;
    std::vector<zmq::message_t> parts;
    for (; zmq::recv_multipart(socket_, std::back_inserter(parts)); parts.clear()) {
      Message message;
      auto header = json::parse(parts.at(0).to_string_view(), nullptr, false);
      if (!header.is_discarded()) message.header = std::move(header);
      if (parts.size() == 1) {
        end_ = message.header.value();
        return run;
      }
      const auto* data = parts.at(1).data<std::byte>();
      message.pixels.assign(data, data + parts.at(1).size());
      run.push_back(std::move(message));
    }
    return run;
  }
  const json& end() const { return end_; }

 private:
  zmq::context_t context_;
  zmq::socket_t socket_;
  json end_;
};

PlayerSettings small_run(const std::string& endpoint) {
  PlayerSettings settings;
  settings.shape = {5, 7};
  settings.run = "run-1";
  settings.faults.frames = 40;
  settings.images.images = 16;
  settings.endpoints = {endpoint};
  settings.linger = std::chrono::seconds(20);
  return settings;
}

PlayerReport play(PlayerSettings settings) {
  const std::atomic<bool> stop{false};
  return Player(std::move(settings)).play(stop, nullptr);
}

TEST_CASE("what arrives is what was said to be sent, to the byte") {
  Receiver receiver(zmq::socket_type::pull);
  auto settings = small_run(receiver.endpoint());
  SUBCASE("images from the pool") { settings.images.images = 16; }
  SUBCASE("every frame its own image") { settings.images.images = 0; }
  const auto now = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch());
  };
  const double before = now().count();
  const auto report = play(settings);
  const auto run = receiver.receive_run();

  REQUIRE(report.began);
  CHECK(*report.began >= before);
  CHECK(*report.began + report.seconds <= now().count());
  REQUIRE(run.size() == 40);
  const SimulatedDetector detector({5, 7}, PixelType::u16, 1);
  std::vector<std::byte> expected(detector.frame_bytes());
  for (std::uint64_t n = 0; n < run.size(); ++n) {
    const auto& header = run[n].header.value();
    CHECK(header.at("shape") == json({5, 7}));
    CHECK(header.at("type") == "uint16");
    CHECK(header.at("frame") == n);
    CHECK(header.at("run") == "run-1");
    detector.render(*settings.images.images == 0 ? n : n % *settings.images.images, expected);
    CHECK(run[n].pixels == expected);
  }
  CHECK(receiver.end() == json{{"htype", "array-1.0"}, {"end", true}, {"run", "run-1"}, {"frames", 40}});
  CHECK(report.frames == 40);
  CHECK(report.messages == 40);
  CHECK(report.bytes == 40 * 70);
  CHECK(report.first_frame == 0);
  CHECK(report.last_frame == 39);
  CHECK(report.end_sent);
  CHECK(report.flushed);
  CHECK(report.stopped_by == PlayerReport::StoppedBy::frames);
}

TEST_CASE("faults are sent as planned and each is counted") {
  Receiver receiver(zmq::socket_type::pull);
  auto settings = small_run(receiver.endpoint());
  settings.faults.first = 1000;
  settings.faults.of(FrameFault::skipped) = NumberSelection::parse("1000,1010-1012,1039");
  settings.faults.of(FrameFault::duplicated) =
      NumberSelection::every(8);  // 1007, 1015, 1023, 1031, (1039 is skipped)
  settings.faults.of(FrameFault::bad_header) = NumberSelection::parse("1003");
  settings.faults.of(FrameFault::wrong_size) = NumberSelection::parse("1004,1020");
  settings.faults.reorder_every = 10;  // 1009 with 1010, 1019 with 1020, 1029 with 1030
  const auto report = play(settings);
  const auto run = receiver.receive_run();

  std::map<std::uint64_t, int> whole;
  std::size_t bad_header = 0;
  std::size_t wrong_size = 0;
  for (const auto& message : run) {
    if (!message.header)
      ++bad_header;
    else if (message.pixels.size() != 70)
      ++wrong_size;
    else
      ++whole[message.header->at("frame").get<std::uint64_t>()];
  }
  CHECK(bad_header == 1);
  CHECK(wrong_size == 2);
  CHECK(whole.size() == 40 - 5 - 3);
  CHECK(whole.at(1015) == 2);
  CHECK(whole.count(1011) == 0);
  CHECK(whole.begin()->first == 1001);

  CHECK(report.frames == whole.size());
  CHECK(report.messages == run.size());
  CHECK(report.numbers == 40);
  CHECK(report.of(FrameFault::skipped) == 5);
  CHECK(report.of(FrameFault::bad_header) == 1);
  CHECK(report.of(FrameFault::wrong_size) == 2);
  CHECK(report.of(FrameFault::duplicated) == 4);
  CHECK(report.reordered == 3);
  CHECK(report.first_frame == 1001);
  CHECK(report.last_frame == 1038);
  CHECK(report.bytes == run.size() * 70 - 2);
  CHECK(receiver.end().at("frames") == 40);
}

TEST_CASE("a slow PULL peer slows a PUSH player down and loses nothing") {
  Receiver receiver(zmq::socket_type::pull, 2);
  auto settings = small_run(receiver.endpoint());
  settings.shape = {256, 1024};
  settings.socket.queue_bytes = 1;  // room for a single frame
  settings.faults.frames = 200;     // 100 MB: more than the buffers of the connection hold
  auto report = std::async(std::launch::async, [&] { return play(settings); });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  CHECK(report.wait_for(std::chrono::seconds(0)) == std::future_status::timeout);
  const auto run = receiver.receive_run();
  CHECK(run.size() == 200);
  CHECK(report.get().frames == 200);
}

TEST_CASE("a PUB player that waits for its subscriber reaches it with the first frame, and counts refusals") {
  Receiver receiver(zmq::socket_type::sub);
  auto settings = small_run(receiver.endpoint());
  settings.socket.kind = PlayerSocketSettings::Kind::pub;
  settings.wait_subscriber = std::chrono::seconds(20);
  SUBCASE("with room") {}
  SUBCASE("without room") {
    settings.shape = {256, 512};
    settings.socket.queue_bytes = 1;
    settings.faults.frames = 300;
  }
  auto report = std::async(std::launch::async, [&] { return play(settings); });
  const auto run = receiver.receive_run();
  const auto sent = report.get();
  REQUIRE(!run.empty());
  CHECK(run.front().header->at("frame") == 0);
  CHECK(run.size() == sent.frames);
  CHECK(sent.frames + sent.refused == *settings.faults.frames);
  CHECK(receiver.end().at("frames") == *settings.faults.frames);
}

TEST_CASE("no subscriber within the time allowed is an error") {
  auto settings = small_run("tcp://127.0.0.1:*");
  settings.socket.kind = PlayerSocketSettings::Kind::pub;
  settings.socket.bind = true;
  settings.wait_subscriber = std::chrono::milliseconds(50);
  CHECK_THROWS_AS(play(settings), PlayerSocketError);
}

TEST_CASE("a stop request ends the run with its end mark") {
  Receiver receiver(zmq::socket_type::pull);
  auto settings = small_run(receiver.endpoint());
  settings.faults.frames.reset();
  settings.rate_hz = 2000;
  std::atomic<bool> stop{false};
  Player player(settings);
  const auto report = player.play(stop, [&](const PlayerReport& so_far) { stop = so_far.frames >= 100; });
  const auto run = receiver.receive_run();
  CHECK(report.stopped_by == PlayerReport::StoppedBy::signal);
  CHECK(report.frames >= 100);
  CHECK(run.size() == report.frames);
  CHECK(receiver.end().at("frames") == report.frames);
}

TEST_CASE("the rate is kept and the duration ends the run") {
  Receiver receiver(zmq::socket_type::pull);
  auto settings = small_run(receiver.endpoint());
  settings.faults.frames.reset();
  settings.rate_hz = 100;
  settings.duration = std::chrono::milliseconds(500);
  const auto report = play(settings);
  CHECK(report.stopped_by == PlayerReport::StoppedBy::duration);
  CHECK(report.frames >= 30);  // due: 50; a machine busy at the very end may cost some
  CHECK(report.frames <= 51);  // never ahead of the schedule, whatever the machine does
  CHECK(report.seconds >= 0.5);
}

TEST_CASE("without a peer a PUSH player waits, and ends in time when stopped") {
  auto settings = small_run("tcp://127.0.0.1:*");
  settings.socket.bind = true;
  settings.linger = std::chrono::milliseconds(50);
  settings.duration = std::chrono::milliseconds(100);
  const auto report = play(settings);
  CHECK(report.frames == 0);
  CHECK_FALSE(report.first_frame.has_value());
  CHECK_FALSE(report.end_sent);
  CHECK(report.stopped_by == PlayerReport::StoppedBy::duration);
  CHECK(parse_json(report.to_json()).at("first_frame").is_null());
}

TEST_CASE("the linger time is waited for once, and what was not handed over is said") {
  auto settings = small_run("tcp://127.0.0.1:1");  // nobody is there
  settings.linger = std::chrono::milliseconds(1000);
  settings.faults.frames = 0;
  settings.socket.queue_bytes = 70;
  settings.runs.end_marks = 5;  // more than the queue takes
  const auto begin = std::chrono::steady_clock::now();
  const auto report = play(settings);
  const auto waited = std::chrono::steady_clock::now() - begin;
  CHECK(waited >= std::chrono::milliseconds(1000));
  CHECK(waited < std::chrono::milliseconds(2000));
  CHECK_FALSE(report.flushed);
  CHECK_FALSE(report.end_sent);
}

TEST_CASE("late frames come later by so many frames, the last ones before the end mark") {
  Receiver receiver(zmq::socket_type::pull);
  auto settings = small_run(receiver.endpoint());
  settings.faults.frames = 10;
  settings.faults.of(FrameFault::late) = NumberSelection::parse("2,8");
  settings.faults.late_by = 3;
  const auto report = play(settings);
  std::vector<std::uint64_t> order;
  for (const auto& message : receiver.receive_run()) order.push_back(message.header->at("frame"));
  CHECK(order == std::vector<std::uint64_t>{0, 1, 3, 4, 5, 2, 6, 7, 9, 8});
  CHECK(report.of(FrameFault::late) == 2);
  CHECK(report.expected_account.late == 2);
}

TEST_CASE("an endpoint that cannot be had is named") {
  Receiver taken(zmq::socket_type::pull);
  auto settings = small_run(taken.endpoint());
  settings.socket.bind = true;
  try {
    Player player(settings);
    FAIL("bound a port that is taken");
  } catch (const PlayerSocketError& error) {
    CHECK(std::string(error.what()).find(taken.endpoint()) != std::string::npos);
  }
}

}  // namespace
}  // namespace pixhist
