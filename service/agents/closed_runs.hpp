#pragma once
// Under runs.policy per_run: the last closed run, held as a cut of the whole detector (<u4, all bins, flow),
// and the memory for the next one. Both are taken at start, so that no mark ever meets a lack of memory.
// Writer: the submit thread; readers: any thread.

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "core/snapshot/snapshot.hpp"

namespace pixhist {

/// What ended a run: all its sources passed the mark; runs.close_after_s, with some of them not; a command or
/// the end of the process.
enum class RunEnd : std::uint8_t { marks, timeout, command, shutdown };
inline constexpr std::string_view run_end_names[] = {"marks", "timeout", "command", "shutdown"};
constexpr std::string_view name_of(RunEnd end) { return run_end_names[static_cast<std::size_t>(end)]; }

struct ClosedRun {
  std::string name;  // as given with `start`
  RunEnd end = RunEnd::marks;
  SnapshotPtr snapshot;  // its cut carries run id, times and the account of each source in that run
};

class ClosedRuns {
 public:
  static constexpr std::size_t cuts = 2;  // one held, one being taken

  /// Without a window nothing is ever closed (runs.policy continuous). Throws std::bad_alloc. `memory`
  /// outlives everything handed out.
  ClosedRuns(const std::optional<SnapshotWindow>& window, HostMemory& memory);

  /// Memory for one closing run: the one that is not held, once nobody reads it any more; else null. Pixels
  /// of no source are 0 in it, the others are as they were. Submit thread.
  std::shared_ptr<Snapshot> take();
  /// Whether take() would give one.
  bool has_free() const;
  /// Replaces the run held. Submit thread.
  void publish(ClosedRun run);

  /// The last closed run.
  std::optional<ClosedRun> last() const;
  /// Its cut, if `run` is its id.
  SnapshotPtr find(const std::string& run) const;

 private:
  struct Slot {
    Snapshot snapshot;
    std::atomic<bool> free{true};
  };
  std::array<std::shared_ptr<Slot>, cuts> slots_;  // shared with what is handed out
  mutable std::mutex mutex_;
  std::optional<ClosedRun> last_;
};

}  // namespace pixhist
