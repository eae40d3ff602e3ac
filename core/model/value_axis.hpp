#pragma once
// The value axis: bins, limits, the type A it is computed in, and the checks of docs/numerics.md.

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/model/bin_index.hpp"
#include "core/model/pixel_type.hpp"

namespace pixhist {

inline constexpr std::uint32_t max_bins = 65536;

/// Limits as configured; they are converted to `type` before anything is checked or computed.
struct AxisSpec {
  std::uint32_t bins = 0;
  double min = 0;
  double max = 0;
  AxisType type = AxisType::f32;
  friend bool operator==(const AxisSpec&, const AxisSpec&) = default;
};

/// Shortest text that reads back as `value`, for messages.
template <class A>
std::string number_text(A value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof(text), value).ptr};
}

/// Checks the axis and computes its scale in A.
/// Throws std::invalid_argument naming the argument and its value: bins outside 1…65536, xmin or xmax not
/// finite in A, xmin >= xmax in A, width or scale not finite and normal in A.
template <class A>
BinScale<A> make_bin_scale(std::uint32_t bins, double min, double max) {
  const auto fail = [](const std::string& what) { throw std::invalid_argument(what); };
  if (bins < 1 || bins > max_bins)
    fail("bins is " + std::to_string(bins) + ", allowed: 1 to " + std::to_string(max_bins));
  const A xmin = static_cast<A>(min);
  const A xmax = static_cast<A>(max);
  if (!std::isfinite(xmin))
    fail("xmin is " + number_text(min) + ", allowed: a number finite in the axis type");
  if (!std::isfinite(xmax))
    fail("xmax is " + number_text(max) + ", allowed: a number finite in the axis type");
  if (!(xmin < xmax))
    fail("xmin is " + number_text(min) + " and xmax " + number_text(max) +
         ", allowed: xmin < xmax after conversion to the axis type");
  const A width = xmax - xmin;
  const A scale = static_cast<A>(bins) / width;
  if (!std::isnormal(width))
    fail("xmax - xmin is " + number_text(width) + ", allowed: a finite, normal width");
  if (!std::isnormal(scale))
    fail("bins / (xmax - xmin) is " + number_text(scale) + ", allowed: a finite, normal scale");
  return {xmin, xmax, scale, bins};
}

/// Runs `visitor(make_bin_scale<A>(axis))` with A = float or double as `axis.type` says.
template <class Visitor>
decltype(auto) visit_bin_scale(const AxisSpec& axis, Visitor&& visitor) {
  if (axis.type == AxisType::f32) return visitor(make_bin_scale<float>(axis.bins, axis.min, axis.max));
  return visitor(make_bin_scale<double>(axis.bins, axis.min, axis.max));
}

/// edges[i] = xmin + (i * (xmax - xmin)) / bins, each step in A; bins + 1 values.
/// For plotting: a value within an ulp of an edge may have been counted in the neighbour bin.
template <class A>
std::vector<A> bin_edges(const BinScale<A>& s) {
  std::vector<A> edges(std::size_t{s.bins} + 1);
  for (std::size_t i = 0; i < edges.size(); ++i)
    edges[i] = s.xmin + (static_cast<A>(i) * (s.xmax - s.xmin)) / static_cast<A>(s.bins);
  return edges;
}

/// centers[i] = (edges[i] + edges[i+1]) / 2 in A; bins values.
template <class A>
std::vector<A> bin_centers(const BinScale<A>& s) {
  const auto edges = bin_edges(s);
  std::vector<A> centers(s.bins);
  for (std::size_t i = 0; i < centers.size(); ++i) centers[i] = (edges[i] + edges[i + 1]) / A{2};
  return centers;
}

/// True if integer pixels on this axis give a comb: the bin width is no whole number, so neighbouring bins
/// hold different numbers of values (1000 bins on [0, 16384): 616 bins hold 16 values, 384 hold 17).
inline bool axis_has_comb(PixelType pixel, const AxisSpec& axis) {
  const double width = (axis.max - axis.min) / axis.bins;
  return is_integer(pixel) && width != std::floor(width);
}

}  // namespace pixhist
