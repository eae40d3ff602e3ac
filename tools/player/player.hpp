#pragma once
// Plays the simulated runs of one module: frames by the fault plan, at a rate or as fast as the peer takes
// them, then end marks. Says at the end, to the frame, what was sent and what a receiver should say.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/player/expected_account.hpp"
#include "tools/player/fault_plan.hpp"
#include "tools/player/image_pool.hpp"
#include "tools/player/player_report.hpp"
#include "tools/player/player_socket.hpp"
#include "tools/player/wire_encoder.hpp"

namespace pixhist {

struct RunSettings {
  std::uint64_t runs = 1;  // one behind the other; more than 1 needs faults.frames
  std::chrono::duration<double> pause{0};
  RunKeys keys = RunKeys::fresh;
  bool numbers_go_on = false;              // else every run begins at faults.first
  std::uint64_t end_marks = 1;             // at the end of each run
  std::optional<std::uint64_t> early_end;  // one more end mark, once so many numbers of a run have passed
};

struct PlayerSettings {
  FrameShape shape{512, 1024};
  PixelType pixel_type = PixelType::u16;
  std::uint64_t seed = 1;
  DetectorPhysics physics;
  ImagePoolSettings images;
  FaultSettings faults;
  RunSettings runs;
  std::optional<std::chrono::duration<double>> duration;
  double rate_hz = 0;  // 0: as fast as possible
  std::string run;
  std::uint32_t row = 0, column = 0;   // place in the detector, in units of sockets' images
  std::optional<SlsWireSettings> sls;  // none: array10
  NumberSelection incomplete;          // sls: sent with a hole
  std::optional<std::chrono::milliseconds> wait_subscriber;
  PlayerSocketSettings socket;
  /// One socket each, dealt frames in turn; every end mark goes to all of them.
  std::vector<std::string> endpoints{"tcp://127.0.0.1:30001"};
  std::chrono::milliseconds linger{10'000};  // longest wait at the end, for end mark and queues together
  std::uint64_t receiver_window = 1024;      // the receiver's sequence.window
};

class Player {
 public:
  /// Prepares the images and opens the sockets. Throws PlayerSocketError or std::invalid_argument.
  explicit Player(PlayerSettings settings);

  /// As bound (a wildcard port resolved) or connected.
  const std::vector<std::string>& endpoints() const { return report_.endpoints; }

  /// Called about five times a second from within play().
  using Progress = std::function<void(const PlayerReport&)>;

  /// Plays the runs and closes the sockets; once. `stop` is looked at between frames and while waiting: the
  /// frame in hand is finished or left unsent, held frames and the end mark go out. Throws PlayerSocketError,
  /// also when no subscriber came.
  PlayerReport play(const std::atomic<bool>& stop, const Progress& progress);

 private:
  using Clock = std::chrono::steady_clock;
  using Outcome = PlayerSocket::Outcome;
  struct Held {
    std::uint64_t due;  // step behind which it is sent
    std::uint64_t position;
  };

  void wait_for_subscribers();
  void play_run(const FaultPlan& plan);
  bool step(const FaultPlan& plan, std::uint64_t step);
  bool send_number(std::uint64_t number, FrameFault fault);
  Outcome send(const WireFrame& frame, FrameFault fault);
  void note_sent(const WireFrame& frame, FrameFault fault, std::size_t bytes);
  void send_held(std::uint64_t step);  // those due by then
  void pass_position(std::uint64_t position);
  void end_run();
  void send_end(std::uint64_t marks);
  void close_sockets();

  WireFrame frame_of(std::uint64_t run, std::uint64_t number) const;
  std::uint64_t first_of(std::uint64_t run) const;
  std::size_t bytes_of(FrameFault fault) const;
  bool wait_until(Clock::time_point due);
  bool must_stop();
  bool gives_up();
  void show_progress();

  PlayerSettings settings_;
  std::unique_ptr<WireEncoder> wire_;
  ImagePool pool_;  // before sockets_: they read from it until closed
  std::vector<std::unique_ptr<PlayerSocket>> sockets_;

  PlayerReport report_;
  ExpectedAccount account_;
  std::string header_;  // reused frame after frame

  // The run being played.
  std::uint64_t run_ = 0;
  std::uint64_t run_numbers_ = 0;  // positions passed
  std::deque<Held> held_;          // late frames, in the order in which they are due
  bool early_end_sent_ = false;

  const std::atomic<bool>* stop_ = nullptr;
  const Progress* progress_ = nullptr;
  Clock::time_point start_, next_progress_;
  // How long a message waits for room in the queue.
  enum class Phase : std::uint8_t {
    playing,   // until the player must stop
    emptying,  // a number that the run has passed already: then for the linger time, too
    ending,    // an end mark: for the linger time
  };
  Phase phase_ = Phase::playing;
  std::optional<Clock::time_point> give_up_at_;  // end of the linger time, once it runs
  bool all_sent_ = true;
};

}  // namespace pixhist
