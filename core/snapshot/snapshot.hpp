#pragma once
// An immutable answer about counts, assembled over sources, with its cut.

#include <array>
#include <cstdint>
#include <memory>

#include "core/memory/host_memory.hpp"
#include "core/model/bin_index.hpp"
#include "core/model/geometry.hpp"
#include "core/model/pixel_type.hpp"
#include "core/snapshot/cut.hpp"

namespace pixhist {

/// What a snapshot holds: pixels (detector coordinates), bins, type.
struct SnapshotWindow {
  Rect pixels;
  BinRange bins;
  StorageType dtype = StorageType::u32;

  std::size_t count_bytes() const { return pixels.pixels() * bins.size() * size_of(dtype); }
  std::size_t flow_bytes() const { return pixels.pixels() * flow_bytes_per_pixel; }
  static constexpr std::size_t flow_bytes_per_pixel = flow_count * sizeof(std::uint32_t);
};

/// counts: (rows, cols, bins) of window.dtype, C order; pixels of no source are 0.
/// flow: four planes (rows, cols) of uint32 in the order of enum Flow.
/// Immutable once shared; any thread may read it.
struct Snapshot {
  Cut cut;
  SnapshotWindow window;
  HostBlock counts;
  HostBlock flow;
  std::uint64_t capped = 0;  // cells cut by window.dtype
};

using SnapshotPtr = std::shared_ptr<const Snapshot>;

/// A narrower window of `from`, in its dtype or a narrower one. Throws std::invalid_argument if `window` is
/// not inside from.window, or if `from` is not u32 and window.dtype differs from its dtype.
SnapshotPtr extract(const Snapshot& from, const SnapshotWindow& window, HostMemory& memory);

}  // namespace pixhist
