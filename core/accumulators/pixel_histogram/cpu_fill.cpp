#include "core/accumulators/pixel_histogram/cpu_fill.hpp"

#include <array>
#include <limits>

#include "core/model/value_slot.hpp"

namespace pixhist {
namespace {

// How far ahead a frame's pixels are asked for. A tile takes a few cache lines of each frame, each on another
// page, which no hardware prefetcher foresees.
constexpr std::size_t prefetch_frames = 6;
constexpr std::size_t cache_line = 64;

/// Slots of one frame's share of a tile.
using Slots = std::array<std::uint32_t, max_tile_pixels>;

void prefetch(const std::byte* begin, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += cache_line) __builtin_prefetch(begin + i);
}

void apply_mask(Slots& slots, const std::uint8_t* mask, std::size_t pixels, std::uint32_t invalid_slot) {
  for (std::size_t i = 0; i < pixels; ++i) slots[i] = mask[i] != 0 ? invalid_slot : slots[i];
}

template <class T>
void apply_missing(Slots& slots, const T* values, std::size_t pixels, std::uint32_t invalid_slot) {
  for (std::size_t i = 0; i < pixels; ++i) slots[i] = is_missing_fill(values[i]) ? invalid_slot : slots[i];
}

void add_flow(FlowTotals& totals, const Slots& slots, std::size_t pixels, std::uint32_t bins) {
  std::uint32_t outside = 0;
  for (std::size_t i = 0; i < pixels; ++i) outside += slots[i] >= bins ? 1U : 0U;
  if (outside == 0) return;
  std::uint32_t below = 0;
  std::uint32_t above = 0;
  std::uint32_t invalid = 0;
  for (std::size_t i = 0; i < pixels; ++i) {
    below += slots[i] == flow_slot(bins, Flow::below) ? 1U : 0U;
    above += slots[i] == flow_slot(bins, Flow::above) ? 1U : 0U;
    invalid += slots[i] == flow_slot(bins, Flow::invalid) ? 1U : 0U;
  }
  totals.below += below;
  totals.above += above;
  totals.invalid += invalid;
  totals.other_stage += outside - below - above - invalid;
}

void count_last(std::uint32_t* row, const Slots& slots, std::size_t pixels, std::size_t row_cells) {
  for (std::size_t i = 0; i < pixels; ++i, row += row_cells) ++row[slots[i]];
}

/// Counts one frame and asks for the cells of the next: a cell that no frame has touched lately comes from
/// main memory, and the tile's width is about the time that takes.
void count(std::uint32_t* row, const Slots& slots, const Slots& next, std::size_t pixels,
           std::size_t row_cells) {
  for (std::size_t i = 0; i < pixels; ++i, row += row_cells) {
    __builtin_prefetch(row + next[i], 1);
    ++row[slots[i]];
  }
}

void count_saturating(std::uint32_t* row, const Slots& slots, std::size_t pixels, std::size_t row_cells) {
  for (std::size_t i = 0; i < pixels; ++i, row += row_cells) {
    std::uint32_t& cell = row[slots[i]];
    cell += cell != std::numeric_limits<std::uint32_t>::max() ? 1U : 0U;
  }
}

template <class T, class A, ValueMap M>
class TypedFill final : public CpuFill {
 public:
  explicit TypedFill(const HistogramSpec& spec)
      : scale_(make_bin_scale<A>(spec.axis.bins, spec.axis.min, spec.axis.max)) {
    invalid_.count = static_cast<std::uint32_t>(spec.invalid_values.size());
    for (std::size_t i = 0; i < invalid_.count; ++i)
      invalid_.values[i] = static_cast<T>(spec.invalid_values[i]);
    for (std::size_t i = invalid_.count; i < max_invalid_values; ++i) invalid_.values[i] = invalid_.values[0];
  }

  FlowTotals fill(const TileFill& tile) const override {
    const std::size_t row_cells = std::size_t{scale_.bins} + flow_count;
    FlowTotals totals;
    std::array<Slots, 2> slots;  // of this frame and the next, in turn
    if (tile.frames.empty()) return totals;
    find_slots(tile, 0, slots[0], totals);
    for (std::size_t f = 0; f < tile.frames.size(); ++f) {
      const Slots& now = slots[f % 2];
      Slots& next = slots[(f + 1) % 2];
      const bool last = f + 1 == tile.frames.size();
      if (!last) find_slots(tile, f + 1, next, totals);
      if (tile.saturating)
        count_saturating(tile.cells, now, tile.pixels, row_cells);
      else if (last)
        count_last(tile.cells, now, tile.pixels, row_cells);
      else
        count(tile.cells, now, next, tile.pixels, row_cells);
    }
    return totals;
  }

 private:
  void find_slots(const TileFill& tile, std::size_t frame, Slots& slots, FlowTotals& totals) const {
    const std::size_t first_byte = tile.first_pixel * sizeof(T);
    if (frame + prefetch_frames < tile.frames.size())
      prefetch(tile.frames[frame + prefetch_frames] + first_byte, tile.pixels * sizeof(T));
    const auto* values = reinterpret_cast<const T*>(tile.frames[frame] + first_byte);
    slots_of(values, tile.pixels, slots);
    if (!tile.missing.empty() && tile.missing[frame] != 0)
      apply_missing(slots, values, tile.pixels, flow_slot(scale_.bins, Flow::invalid));
    if (tile.mask != nullptr)
      apply_mask(slots, tile.mask, tile.pixels, flow_slot(scale_.bins, Flow::invalid));
    add_flow(totals, slots, tile.pixels, scale_.bins);
  }

  /// The loops hold copies of the constants, which the compiler then keeps in vector registers.
  void slots_of(const T* values, std::size_t pixels, Slots& slots) const {
    const BinScale<A> scale = scale_;
    if (invalid_.count == 0) {
      constexpr InvalidValues<T> none;
      for (std::size_t i = 0; i < pixels; ++i) slots[i] = value_slot<M>(values[i], scale, none);
    } else {
      const InvalidValues<T> invalid = invalid_;
      for (std::size_t i = 0; i < pixels; ++i) slots[i] = value_slot<M>(values[i], scale, invalid);
    }
  }

  BinScale<A> scale_;
  InvalidValues<T> invalid_;
};

// Exactly the combinations that check() allows.
template class TypedFill<std::uint8_t, float, ValueMap::raw>;
template class TypedFill<std::uint16_t, float, ValueMap::raw>;
template class TypedFill<std::uint16_t, float, ValueMap::adc>;
template class TypedFill<std::uint16_t, float, ValueMap::gain>;
template class TypedFill<std::uint16_t, float, ValueMap::adc_g0>;
template class TypedFill<std::uint16_t, float, ValueMap::adc_g1>;
template class TypedFill<std::uint16_t, float, ValueMap::adc_g2>;
template class TypedFill<std::int16_t, float, ValueMap::raw>;
template class TypedFill<float, float, ValueMap::raw>;
template class TypedFill<std::uint32_t, double, ValueMap::raw>;
template class TypedFill<std::int32_t, double, ValueMap::raw>;
template class TypedFill<float, double, ValueMap::raw>;
template class TypedFill<double, double, ValueMap::raw>;

template <class T, class A, ValueMap M = ValueMap::raw>
std::unique_ptr<const CpuFill> make(const HistogramSpec& spec) {
  return std::make_unique<TypedFill<T, A, M>>(spec);
}

std::unique_ptr<const CpuFill> make_u16_fill(const HistogramSpec& spec) {
  switch (spec.map) {
    case ValueMap::adc: return make<std::uint16_t, float, ValueMap::adc>(spec);
    case ValueMap::gain: return make<std::uint16_t, float, ValueMap::gain>(spec);
    case ValueMap::adc_g0: return make<std::uint16_t, float, ValueMap::adc_g0>(spec);
    case ValueMap::adc_g1: return make<std::uint16_t, float, ValueMap::adc_g1>(spec);
    case ValueMap::adc_g2: return make<std::uint16_t, float, ValueMap::adc_g2>(spec);
    case ValueMap::raw: break;
  }
  return make<std::uint16_t, float>(spec);
}

}  // namespace

std::unique_ptr<const CpuFill> make_cpu_fill(const HistogramSpec& spec) {
  switch (spec.pixel_type) {
    case PixelType::u8: return make<std::uint8_t, float>(spec);
    case PixelType::u16: return make_u16_fill(spec);
    case PixelType::u32: return make<std::uint32_t, double>(spec);
    case PixelType::i16: return make<std::int16_t, float>(spec);
    case PixelType::i32: return make<std::int32_t, double>(spec);
    case PixelType::f64: return make<double, double>(spec);
    case PixelType::f32: break;
  }
  if (spec.axis.type == AxisType::f64) return make<float, double>(spec);
  return make<float, float>(spec);
}

}  // namespace pixhist
