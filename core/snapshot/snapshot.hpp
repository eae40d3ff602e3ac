#pragma once
// An immutable answer about counts, assembled over sources, with its cut.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>

#include "core/memory/host_memory.hpp"
#include "core/model/bin_index.hpp"
#include "core/model/geometry.hpp"
#include "core/model/pixel_type.hpp"
#include "core/model/reduction.hpp"
#include "core/snapshot/cut.hpp"

namespace pixhist {

/// What a snapshot holds: pixels (detector coordinates), bins, type; `rebin` neighbouring bins (a divisor of
/// their number) are added to one cell.
struct SnapshotWindow {
  Rect pixels;
  BinRange bins;
  StorageType dtype = StorageType::u32;
  std::uint32_t rebin = 1;

  /// Cells of a pixel.
  std::uint32_t cells() const { return bins.size() / rebin; }
  std::size_t count_bytes() const { return pixels.pixels() * cells() * size_of(dtype); }
  std::size_t flow_bytes() const { return pixels.pixels() * flow_bytes_per_pixel; }
  static constexpr std::size_t flow_bytes_per_pixel = flow_count * sizeof(std::uint32_t);
  friend bool operator==(const SnapshotWindow&, const SnapshotWindow&) = default;
};

/// counts: (rows, cols, cells) of window.dtype, C order; pixels of no source are 0.
/// flow: four planes (rows, cols) of uint32 in the order of enum Flow.
/// With a reduction there is `reduced` instead of both: values of value_bytes(), for spectrum (sources,
/// bins), for all others (rows, cols); pixels of no source are all zero bytes. Immutable once shared; any
/// thread may read it.
struct Snapshot {
  Cut cut;
  SnapshotWindow window;
  HostBlock counts;
  HostBlock flow;
  std::uint64_t capped = 0;  // cells cut by window.dtype
  std::optional<ReductionKind> reduction;
  HostBlock reduced;
};

using SnapshotPtr = std::shared_ptr<const Snapshot>;

/// Two cuts have no difference: they belong to different runs.
class RunChanged : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Checks that the counts of `later` less those of `earlier` are those of the frames between. Throws
/// RunChanged, or std::invalid_argument if `earlier` is the later one.
void check_same_run(const Cut& later, const Cut& earlier);

/// Checks that a snapshot of counts has the pixels and bins of `window` uncapped, in u32. Throws
/// std::invalid_argument that begins with `name`, which is how the asker called the snapshot.
void check_holds(const char* name, const SnapshotWindow& held, const SnapshotWindow& window);

/// A narrower window of `from`, in its dtype or a narrower one, with the cut of `from`; with `since`, less
/// the counts of that earlier cut, in any dtype. Throws std::invalid_argument if `window` is not inside what
/// both hold, or if they do not hold u32 and window is not of the dtype that `from` has; what
/// check_same_run() throws; std::bad_alloc.
SnapshotPtr extract(const Snapshot& from, const SnapshotWindow& window, HostMemory& memory,
                    const Snapshot* since = nullptr);

}  // namespace pixhist
