#pragma once
// The counts of one source: what the service accumulates into and reads from, the same for both twins.
// Called by the submit thread only. Pixels in wire order.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/accumulators/accumulator.hpp"
#include "core/model/geometry.hpp"
#include "core/model/histogram_spec.hpp"
#include "core/model/reduction.hpp"

namespace pixhist {

/// What to read: pixels (wire order), bins, how many neighbouring bins to add to one (a divisor of their
/// number), and the type to hand out.
struct CountWindow {
  Rect pixels;
  BinRange bins;
  StorageType dtype = StorageType::u32;
  std::uint32_t rebin = 1;

  /// Counts handed out for each pixel.
  constexpr std::uint32_t cells() const { return bins.size() / rebin; }
};

/// Where to put it. Pixel (r, c) of the window, counted from its corner, goes to
/// counts + r * row_stride + c * window.cells() * size_of(dtype); a negative row_stride flips rows (counts
/// then points at the row where the window's first row goes). flow[k], if not null, takes one uint32 per
/// pixel at flow[k] + r * flow_row_stride + c (elements), k as enum Flow.
struct CountTarget {
  std::byte* counts = nullptr;    // null: no bins wanted
  std::ptrdiff_t row_stride = 0;  // bytes
  std::array<std::uint32_t*, flow_count> flow{};
  std::ptrdiff_t flow_row_stride = 0;  // elements
};

/// What to reduce: pixels (wire order) and bins. Bins are numbered as on the axis, also in a part of it.
struct ReductionRequest {
  ReductionKind kind = ReductionKind::sum;
  Rect pixels;
  BinRange bins;
};

/// Where to put it, value_bytes(kind) each. spectrum: bins.size() values in a row at `values`. Others: pixel
/// (r, c) of the request goes to values + r * row_stride + c * value_bytes(kind); a negative row_stride flips
/// rows.
struct ReductionTarget {
  std::byte* values = nullptr;
  std::ptrdiff_t row_stride = 0;  // bytes
};

/// A read or a reduction in progress. The target stays alive until ready(). Polled by the submit thread.
class CountRead {
 public:
  virtual ~CountRead() = default;
  virtual bool ready() = 0;
  /// After ready(): cells that dtype cut.
  virtual std::uint64_t capped() const = 0;
  /// After ready(): frames in the counts that were read, from the counter that travels with them.
  virtual std::uint64_t frames() const = 0;
};

/// Sums over all pixels since the last zero().
struct FlowTotals {
  std::uint64_t below = 0;
  std::uint64_t above = 0;
  std::uint64_t invalid = 0;
  std::uint64_t other_stage = 0;

  constexpr FlowTotals& operator+=(const FlowTotals& other) {
    below += other.below;
    above += other.above;
    invalid += other.invalid;
    other_stage += other.other_stage;
    return *this;
  }
  friend constexpr bool operator==(const FlowTotals&, const FlowTotals&) = default;
};

/// Bound of PixelCounts::kernels().
inline constexpr std::size_t most_kernels = 8;

/// One way of counting a batch, for `info`. The text lives for ever.
struct KernelRow {
  std::string_view name;
  std::string_view when;  // the policy takes it
  bool usable = true;     // for these bins on this device
};

class PixelCounts : public Accumulator {
 public:
  virtual const HistogramSpec& spec() const = 0;
  /// True of every batch accumulated before the call; filling may go on while it runs.
  virtual std::unique_ptr<CountRead> begin_read(const CountWindow& window, const CountTarget& target) = 0;
  /// The same for a reduction; only its result leaves the device.
  virtual std::unique_ptr<CountRead> begin_reduce(const ReductionRequest& request,
                                                  const ReductionTarget& target) = 0;
  /// Takes ahead what one read of everything needs; to be called before frames come. Throws what allocation
  /// throws.
  virtual void reserve_read() {}
  /// As begin_read(), with what reserve_read() took: never fails for want of memory. One at a time: the one
  /// before is ready. It may wait, in stream order, for the reserved read of another source.
  virtual std::unique_ptr<CountRead> begin_reserved_read(const CountWindow& window,
                                                         const CountTarget& target) {
    return begin_read(window, target);
  }
  /// Frames accumulated since zero, as far as known to the host (the CPU twin: exact).
  virtual std::uint64_t frames() const = 0;
  virtual FlowTotals flow_totals() const = 0;
  /// Cells (bins and flow counters) that have reached 2^32-1 and stay there.
  virtual std::uint64_t saturated_cells() = 0;
  /// Upper bound of the largest cell. While bound + frames of a batch < 2^32 plain adds are used.
  virtual std::uint64_t cell_bound() const = 0;
  /// Every way of counting there is; constant.
  virtual std::vector<KernelRow> kernels() const = 0;
  /// Batches accumulated by each of them since construction, in the order of kernels(); at most most_kernels.
  virtual std::span<const std::uint64_t> batches_of_kernel() const = 0;
};

}  // namespace pixhist
