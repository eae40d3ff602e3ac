#pragma once
// What was sent, to the frame, and what a receiver should say about it.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/player/expected_account.hpp"
#include "tools/player/frame_fault.hpp"

namespace pixhist {

/// Counts of numbers, each under one name: numbers = frames + skipped + the rejected faults + refused. A
/// report of several runs adds them up.
struct PlayerReport {
  enum class StoppedBy : std::uint8_t { frames, duration, signal };
  std::string run;
  std::uint32_t row = 0, column = 0;  // of the module
  std::vector<std::string> endpoints;
  std::uint64_t runs = 0;      // begun
  std::uint64_t numbers = 0;   // the runs' lengths, as their end marks state them
  std::uint64_t frames = 0;    // numbers sent whole and well-formed: what a loss-free receiver accumulates
  std::uint64_t messages = 0;  // messages of frames, duplicates and bad ones included
  std::uint64_t bytes = 0;     // pixel bytes of those messages
  std::optional<std::uint64_t> first_frame, last_frame;  // lowest and highest of `frames`
  std::array<std::uint64_t, frame_fault_count> faults{};
  std::uint64_t refused = 0;     // not sent: PUB, because a subscriber's queue was full
  std::uint64_t reordered = 0;   // pairs that changed places
  std::uint64_t incomplete = 0;  // of `frames`, sent with a hole
  std::uint64_t end_marks = 0;   // sent
  std::optional<double> began;   // first send, seconds of the monotonic clock; of several the earliest
  double seconds = 0;            // first send to last send
  bool end_sent = false;         // the end marks wanted were sent, and there was one
  bool flushed = false;  // everything wanted was sent, and the queue had emptied within the linger time
  StoppedBy stopped_by = StoppedBy::frames;
  AccountNumbers expected_account;

  std::uint64_t& of(FrameFault fault) { return faults[static_cast<std::size_t>(fault)]; }
  std::uint64_t of(FrameFault fault) const { return faults[static_cast<std::size_t>(fault)]; }

  void note_frame(std::uint64_t number);

  /// One line of JSON: docs/player.md.
  std::string to_json() const;
};

/// The reports of modules that played side by side as one: counts added up, the longest time, and everything
/// that must hold of all. JSON: the same keys, and `modules` with a report each.
PlayerReport sum_of(const std::vector<PlayerReport>& modules);
std::string to_json(const std::vector<PlayerReport>& modules);

}  // namespace pixhist
