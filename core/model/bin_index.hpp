#pragma once
// The bin arithmetic: the only place where a value becomes a bin, for host and device alike.

#include <cstdint>
#include <limits>

#include "core/model/host_device.hpp"

namespace pixhist {

/// Where a value lands that has no bin. Per pixel: sum of bins + these four = frames accumulated.
enum class Flow : std::uint32_t { below, above, invalid, other_stage };
inline constexpr std::uint32_t flow_count = 4;

/// The axis as kernels need it. scale = bins / (xmax - xmin), computed once in A (make_bin_scale).
template <class A>
struct BinScale {
  A xmin;
  A xmax;
  A scale;
  std::uint32_t bins;
};

/// Slots 0 … bins-1 are bins; the four slots behind them are the flow counters.
PIXHIST_HD constexpr std::uint32_t flow_slot(std::uint32_t bins, Flow flow) {
  return bins + static_cast<std::uint32_t>(flow);
}

/// The slot of value v, rounded step by step in A as docs/numerics.md says:
/// bin = min(trunc((v - xmin) * scale), bins - 1) for xmin <= v < xmax; NaN is invalid, never binned.
/// The product is below 65537 for every v in range, so a 32-bit conversion truncates as a wider one would.
/// Written as selections without branches (& on purpose), so that host compilers turn a loop over it into
/// vector code; a value out of range is replaced before the arithmetic, which keeps the conversion defined.
template <class A>
PIXHIST_HD constexpr std::uint32_t bin_slot(A v, const BinScale<A>& s) {
  const bool in_range = static_cast<bool>(static_cast<int>(v >= s.xmin) & static_cast<int>(v < s.xmax));
  const A inside = in_range ? v : s.xmin;
  const auto last = static_cast<std::int32_t>(s.bins - 1);
  const auto product = static_cast<std::int32_t>((inside - s.xmin) * s.scale);
  const auto bin = static_cast<std::uint32_t>(product < last ? product : last);
  const std::uint32_t not_below =
      v >= s.xmax ? flow_slot(s.bins, Flow::above) : flow_slot(s.bins, Flow::invalid);
  const std::uint32_t outside = v < s.xmin ? flow_slot(s.bins, Flow::below) : not_below;
  return in_range ? bin : outside;
}

namespace bin_index_examples {
inline constexpr BinScale<float> adc{0.0F, 16384.0F, 1024.0F / 16384.0F, 1024};
static_assert(bin_slot(0.0F, adc) == 0 && bin_slot(15.0F, adc) == 0 && bin_slot(16.0F, adc) == 1);
static_assert(bin_slot(16383.0F, adc) == 1023 && bin_slot(16384.0F, adc) == flow_slot(1024, Flow::above));
static_assert(bin_slot(-1.0F, adc) == flow_slot(1024, Flow::below));
static_assert(bin_slot(16383.999F, adc) == 1023);
static_assert(bin_slot(std::numeric_limits<float>::infinity(), adc) == flow_slot(1024, Flow::above));
static_assert(bin_slot(-std::numeric_limits<float>::infinity(), adc) == flow_slot(1024, Flow::below));
#ifndef __CUDACC__  // nvcc does not compare a NaN at compile time
static_assert(bin_slot(std::numeric_limits<float>::quiet_NaN(), adc) == flow_slot(1024, Flow::invalid));
#endif
static_assert(bin_slot(std::numeric_limits<float>::max(), adc) == flow_slot(1024, Flow::above));
}  // namespace bin_index_examples

}  // namespace pixhist
