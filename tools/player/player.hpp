#pragma once
// Plays a simulated run: frames by the fault plan, at a rate or as fast as the peer takes them, then an end
// mark. Says at the end, to the frame, what a receiver should have got.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/player/fault_plan.hpp"
#include "tools/player/player_socket.hpp"
#include "tools/player/simulated_detector.hpp"

namespace pixhist {

struct PlayerSettings {
  FrameShape shape{512, 1024};
  PixelType pixel_type = PixelType::u16;
  std::uint64_t seed = 1;
  /// Images made before the start and shown in turn: frame n shows image n mod images. 0: frame n shows image
  /// n, made while sending. None given: as many as fit into 256 MiB, at most 4096.
  std::optional<std::uint64_t> images;
  FaultSettings faults;
  std::optional<std::chrono::duration<double>> duration;
  double rate_hz = 0;  // 0: as fast as possible
  std::string run;
  bool send_end = true;
  std::optional<std::chrono::milliseconds> wait_subscriber;
  PlayerSocketSettings socket;
};

/// Counts of numbers, each under one name: numbers = frames + skipped + bad_header + wrong_size + refused.
struct PlayerReport {
  enum class StoppedBy : std::uint8_t { frames, duration, signal };
  std::string run;
  std::uint64_t numbers = 0;   // the run's length, as the end mark states it
  std::uint64_t frames = 0;    // numbers sent whole and well-formed: what a loss-free receiver accumulates
  std::uint64_t messages = 0;  // messages with pixels, duplicates and bad ones included
  std::uint64_t bytes = 0;     // pixel bytes of those messages
  std::optional<std::uint64_t> first_frame, last_frame;  // lowest and highest of `frames`
  std::uint64_t skipped = 0, bad_header = 0, wrong_size = 0;
  std::uint64_t refused = 0;     // PUB only: not sent because a subscriber's queue was full
  std::uint64_t duplicated = 0;  // of `frames`, sent twice
  std::uint64_t reordered = 0;   // pairs that changed places
  double seconds = 0;            // first send to last send
  bool end_sent = false;
  bool flushed = false;  // the send queue had emptied when the linger time was over
  StoppedBy stopped_by = StoppedBy::frames;

  /// One line of JSON, keys as above, and frames_per_s, gigabytes_per_s.
  std::string to_json() const;
};

class Player {
 public:
  /// Prepares the images and opens the socket. Throws PlayerSocketError or std::invalid_argument.
  explicit Player(PlayerSettings settings);

  const std::string& endpoint() const { return socket_.endpoint(); }

  /// Called about five times a second from within play().
  using Progress = std::function<void(const PlayerReport&)>;

  /// Plays the run and closes the socket; once. `stop` is looked at between frames and while waiting: the
  /// frame in hand is finished or left unsent, the end mark goes out. Throws PlayerSocketError, also when no
  /// subscriber came.
  PlayerReport play(const std::atomic<bool>& stop, const Progress& progress);

 private:
  using Clock = std::chrono::steady_clock;

  void prepare_images();
  zmq::message_t pixels_of(std::uint64_t number, std::size_t bytes);

  bool step(std::uint64_t step);
  PlayerSocket::Outcome send(std::uint64_t number, FrameFault fault);
  void note_sent(std::uint64_t number);
  bool wait_until_due(std::uint64_t step);
  bool must_stop();
  void send_end();
  void show_progress();

  PlayerSettings settings_;
  FaultPlan plan_;
  SimulatedDetector detector_;
  std::uint64_t images_;
  std::vector<std::vector<std::byte>> pool_;  // before socket_: it reads from here until it is closed
  PlayerSocket socket_;

  std::string header_;  // reused frame after frame
  PlayerReport report_;
  const std::atomic<bool>* stop_ = nullptr;
  const Progress* progress_ = nullptr;
  Clock::time_point start_;
  Clock::time_point next_progress_;
};

}  // namespace pixhist
