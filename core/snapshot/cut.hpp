#pragma once
// The cut of an answer: of exactly which frames it is true.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/account/frame_account.hpp"

namespace pixhist {

enum class RunState : std::uint8_t { starting, running, stopped, draining, device_lost };
inline constexpr std::string_view run_state_names[] = {"starting", "running", "stopped", "draining",
                                                       "device_lost"};
constexpr std::string_view name_of(RunState s) { return run_state_names[static_cast<std::size_t>(s)]; }

using WallTime = std::chrono::system_clock::time_point;

struct SourceCut {
  std::string source;
  std::string run;           // whose frames these are; empty: of none, the next run has not begun
  std::uint64_t frames = 0;  // in the counts (the accumulator's own counter)
  std::optional<std::uint64_t> first_frame;  // lowest and highest number accumulated in this run
  std::optional<std::uint64_t> last_frame;
  std::uint64_t pending = 0;  // received, not yet accumulated
  std::uint64_t saturated = 0;
  FrameAccount account;  // of the run
};

struct Cut {
  std::string run;  // the newest that has begun; empty: none is open
  RunState state = RunState::starting;
  WallTime started_at;
  WallTime taken_at;
  std::vector<SourceCut> sources;
  std::uint64_t batches = 0;
  std::uint64_t paused_ms = 0;

  std::uint64_t frames() const;
  std::uint64_t saturated() const;
};

}  // namespace pixhist
