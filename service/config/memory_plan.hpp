#pragma once
// What the service will allocate, by item and kind, computed from the configuration alone. The service
// allocates by the same functions, so that --check-config is true.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/memory/host_memory.hpp"
#include "service/config/config.hpp"

namespace pixhist {

inline constexpr std::uint64_t ring_page = 4096;
inline constexpr std::uint64_t least_records_per_ring = 4;  // of the largest size: the ring never deadlocks

/// Bytes of one raw frame of source i in a ring.
std::uint64_t record_bytes(const Config& config, std::size_t source);

/// Bytes of each ring: sources in order, in each its endpoints in order. ring.bytes shared out in proportion
/// to frame size, rounded down to pages, never less than four records (so that tiny frames beside large ones
/// may exceed ring.bytes by a page each).
std::vector<std::uint64_t> ring_shares(const Config& config);

/// What ring.bytes must be at least for every ring to hold four records.
std::uint64_t least_ring_bytes(const Config& config);

/// Descriptors of a ring: enough for records half the size of a frame, since run marks take one too.
std::size_t ring_records(std::uint64_t share, std::uint64_t record_bytes);

/// The most bytes a batch of any source can have: batch.bytes, a quarter of its ring, or batch.frames frames,
/// but at least one frame.
std::uint64_t largest_batch(const Config& config);

/// The cut that runs.policy per_run keeps of a closed run, all counts of the detector: there are two of them,
/// the last closed run's and one for the next.
std::uint64_t closed_run_bytes(const Config& config);

struct MemoryItem {
  std::string name;  // "ring of module0", "counts of module0"
  MemoryKind kind = MemoryKind::host;
  std::uint64_t bytes = 0;
};

struct MemoryPlan {
  std::vector<MemoryItem> at_start;  // held from start to end
  std::vector<MemoryItem> up_to;     // bounds of what comes and goes; not in total()

  std::uint64_t total(MemoryKind kind) const;
  std::uint64_t total() const;
};

/// cuda: whether the start would choose a GPU.
MemoryPlan plan_memory(const Config& config, bool cuda);

/// "1.5 GiB", "640 bytes": for people; the exact bytes stand in the JSON.
std::string human_bytes(std::uint64_t bytes);

}  // namespace pixhist
