#pragma once
// What the tests of the contract share: the lists of types, values worth probing, comparison, batches.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "core/accumulators/pixel_histogram/pixel_histogram.hpp"
#include "tests/contract/reference_histogram.hpp"
#include "tests/contract/twin.hpp"

namespace pixhist::contract {

template <class Twin, class Pixel, class Storage = std::uint16_t, class Axis = DefaultAxis<Pixel>,
          ValueMap Map = ValueMap::raw>
using Histogram = PixelHistogram<typename Twin::Engine, Pixel, Storage, Axis, Map>;

/// Calls f.template operator()<Pixel, Axis>() for every pair there is.
template <class F>
void for_each_type_pair(F&& f) {
  f.template operator()<std::uint8_t, float>();
  f.template operator()<std::uint16_t, float>();
  f.template operator()<std::int16_t, float>();
  f.template operator()<float, float>();
  f.template operator()<std::uint32_t, double>();
  f.template operator()<std::int32_t, double>();
  f.template operator()<float, double>();
  f.template operator()<double, double>();
}

/// Calls f.template operator()<Storage>() for every storage type.
template <class F>
void for_each_storage(F&& f) {
  f.template operator()<std::uint8_t>();
  f.template operator()<std::uint16_t>();
  f.template operator()<std::uint32_t>();
  f.template operator()<float>();
}

/// "" if equal, else where and how they differ first.
template <class Got, class Want>
std::string difference(const std::vector<Got>& got, const std::vector<Want>& want) {
  if (got.size() != want.size())
    return std::to_string(got.size()) + " values instead of " + std::to_string(want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (static_cast<double>(got[i]) != static_cast<double>(want[i]))
      return "[" + std::to_string(i) + "] is " + std::to_string(got[i]) + ", not " + std::to_string(want[i]);
  }
  return "";
}

/// Everything a histogram gives out against the reference, and the law of conservation.
template <class H, class T, class A>
void check_equal(H& histogram, const ReferenceHistogram<T, A>& reference) {
  using Storage = typename decltype(histogram.values())::value_type;
  CHECK_EQ(histogram.frames(), reference.frames);
  const auto values = histogram.values();
  const auto below = histogram.below();
  const auto above = histogram.above();
  const auto invalid = histogram.invalid();
  const auto other = histogram.other_stage();
  CHECK_EQ(difference(values, capped<Storage>(reference.counts)), "");
  CHECK_EQ(difference(below, reference.below), "");
  CHECK_EQ(difference(above, reference.above), "");
  CHECK_EQ(difference(invalid, reference.invalid), "");
  CHECK_EQ(difference(other, reference.other_stage), "");
  if constexpr (std::is_same_v<Storage, std::uint32_t>) {
    std::size_t broken = 0;
    for (std::size_t p = 0; p < reference.pixels; ++p) {
      const auto* bins = values.data() + p * reference.bins;
      const auto sum = std::accumulate(bins, bins + reference.bins, std::uint64_t{0});
      broken += sum + below[p] + above[p] + invalid[p] + other[p] == histogram.frames() ? 0U : 1U;
    }
    CHECK_EQ(broken, 0);
  }
}

/// Frames with values spread over 1.5 times the axis, so that all ends are met; seeded.
template <class T>
std::vector<T> random_frames(std::size_t values, double xmin, double xmax, std::uint32_t seed) {
  std::mt19937 engine(seed);
  const double width = xmax - xmin;
  std::uniform_real_distribution<double> within(
      std::max(xmin - width / 4, static_cast<double>(std::numeric_limits<T>::lowest())),
      std::min(xmax + width / 4, static_cast<double>(std::numeric_limits<T>::max())));
  std::vector<T> out(values);
  for (T& v : out) v = static_cast<T>(within(engine));
  return out;
}

/// One push_back each: a range insert sets off a false overflow warning of g++ 12.
template <class T>
void append(std::vector<T>& out, std::initializer_list<T> values) {
  for (const T v : values) out.push_back(v);
}

template <class T>
void add_extremes(std::vector<T>& out) {
  using Limits = std::numeric_limits<T>;
  append<T>(out, {Limits::lowest(), Limits::max(), T{0}, T{1}});
  if constexpr (!Limits::is_integer) {
    out.insert(out.end(),
               {Limits::quiet_NaN(), -Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity(),
                Limits::min(), Limits::denorm_min(), -Limits::denorm_min(), T{-0.0}, Limits::epsilon()});
  }
}

/// The values of T at and one step beside x (one ulp, or 1 for integers).
template <class T>
void add_neighbours(std::vector<T>& out, double x) {
  using Limits = std::numeric_limits<T>;
  if constexpr (Limits::is_integer) {
    for (const double v : {std::floor(x) - 1, std::floor(x), std::floor(x) + 1}) {
      if (v >= static_cast<double>(Limits::min()) && v <= static_cast<double>(Limits::max()))
        out.push_back(static_cast<T>(v));
    }
  } else {
    const T v = static_cast<T>(x);
    append<T>(out, {std::nextafter(v, -Limits::infinity()), v, std::nextafter(v, Limits::infinity())});
  }
}

/// Around every edge of the axis (at most `most` of them, spread evenly), and the ends of T.
template <class T>
std::vector<T> probes(std::size_t bins, double xmin, double xmax, std::size_t most = 100000) {
  std::vector<T> out;
  add_extremes(out);
  const std::size_t step = std::max<std::size_t>(1, bins / most);
  for (std::size_t i = 0; i <= bins; i += step)
    add_neighbours(out, xmin + static_cast<double>(i) * (xmax - xmin) / static_cast<double>(bins));
  add_neighbours(out, xmax);
  return out;
}

/// Frames laid out as in a ring: 16-byte aligned, with their table.
template <class T>
struct RingFrames {
  std::vector<std::byte> bytes;
  std::vector<FrameEntry> table;
  std::vector<std::uint8_t> ok;

  RingFrames(const std::vector<T>& values, std::size_t pixels) {
    const std::size_t frames = values.size() / pixels;
    const std::size_t stride = align16(pixels * sizeof(T));
    bytes.resize(frames * stride);
    ok.assign(frames, 1);
    for (std::size_t f = 0; f < frames; ++f) {
      std::memcpy(bytes.data() + f * stride, values.data() + f * pixels, pixels * sizeof(T));
      table.push_back({f * stride, static_cast<std::uint32_t>(pixels * sizeof(T)), frame_flags::complete, 0});
    }
  }
};

/// Reads and waits; the flow counters and cells go where `target` says.
inline std::uint64_t read_now(PixelCounts& counts, const CountWindow& window, const CountTarget& target) {
  const auto read = counts.begin_read(window, target);
  while (!read->ready()) {
  }
  CHECK_EQ(read->frames(), counts.frames());
  return read->capped();
}

/// All bins of all pixels as Storage, [pixel][bin].
template <class Storage>
std::vector<Storage> read_all(PixelCounts& counts) {
  const HistogramSpec& spec = counts.spec();
  std::vector<Storage> out(spec.shape.pixels() * spec.axis.bins);
  CountTarget target;
  target.counts = reinterpret_cast<std::byte*>(out.data());
  target.row_stride =
      static_cast<std::ptrdiff_t>(std::size_t{spec.shape.cols} * spec.axis.bins * sizeof(Storage));
  read_now(counts, {Rect::whole(spec.shape), {0, spec.axis.bins}, storage_type_of<Storage>()}, target);
  return out;
}

/// One flow plane, [pixel].
inline std::vector<std::uint32_t> read_flow(PixelCounts& counts, Flow flow) {
  const HistogramSpec& spec = counts.spec();
  std::vector<std::uint32_t> out(spec.shape.pixels());
  CountTarget target;
  target.flow[static_cast<std::size_t>(flow)] = out.data();
  target.flow_row_stride = spec.shape.cols;
  read_now(counts, {Rect::whole(spec.shape), {0, spec.axis.bins}, StorageType::u32}, target);
  return out;
}

/// The message of the std::invalid_argument that f throws; "" if it does not.
template <class F>
std::string refusal(F&& f) {
  try {
    f();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

}  // namespace pixhist::contract
