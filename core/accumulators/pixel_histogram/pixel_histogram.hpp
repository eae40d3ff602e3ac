#pragma once
// One histogram of values per pixel, as a library, without the service. The twin is the Engine: see
// cpu_pixel_histogram.hpp. Both give the same counts, bit for bit; the exact behaviour is docs/numerics.md.
//
// Shapes, all C order: frames (n_frames, rows, cols) of Pixel; counts (rows, cols, nbins) of Storage.
// Errors: std::invalid_argument naming the argument, its value and what is allowed; nothing has changed then.
// Thread safety: one caller at a time per object; objects are independent of each other.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/accumulators/pixel_histogram/histogram_arguments.hpp"
#include "core/accumulators/pixel_histogram/pixel_counts.hpp"
#include "core/model/pixel_type.hpp"
#include "core/model/value_axis.hpp"
#include "core/model/value_map.hpp"

namespace pixhist {

/// The type values of `Pixel` are binned in unless another is named (only float pixels have a choice).
template <class Pixel>
using DefaultAxis =
    std::conditional_t<default_axis_type(pixel_type_of<Pixel>()) == AxisType::f32, float, double>;

template <class Engine, class Pixel, class Storage = std::uint16_t, class Axis = DefaultAxis<Pixel>,
          ValueMap Map = ValueMap::raw>
class PixelHistogram {
  static constexpr PixelType pixel_type = pixel_type_of<Pixel>();
  static constexpr StorageType storage_type = storage_type_of<Storage>();
  static constexpr AxisType axis_type = std::is_same_v<Axis, float> ? AxisType::f32 : AxisType::f64;
  static_assert(std::is_same_v<Axis, float> || std::is_same_v<Axis, double>, "the axis is float or double");
  static_assert(axis_type_allowed(pixel_type, axis_type), "float: u8 u16 i16 f32; double: u32 i32 f32 f64");
  static_assert(value_map_allowed(Map, pixel_type, axis_type), "maps other than raw: u16 pixels, float axis");

 public:
  using EngineOptions = typename Engine::Options;

  /// All counts zero. nbins 1 … 65536 bins of equal width on [xmin, xmax) in units of the (mapped) pixel
  /// value; batch_size: most frames one submit_batch may take. Also refused: limits that are not finite or
  /// not in order once they are converted to Axis, and sizes that exceed the memory there is.
  PixelHistogram(std::int64_t rows, std::int64_t cols, std::int64_t nbins, double xmin, double xmax,
                 std::int64_t batch_size, HistogramOptions options = {}, EngineOptions engine = {})
      : batch_size_(checked_batch_size(batch_size)),
        engine_(make_spec({rows, cols, nbins, xmin, xmax}, {pixel_type, axis_type, Map}, std::move(options)),
                batch_size_, engine) {}
  PixelHistogram(const PixelHistogram&) = delete;  // owns counts as large as memory
  PixelHistogram& operator=(const PixelHistogram&) = delete;

  /// Page-locks the caller's memory for the device, releasing a former registration first; the memory
  /// outlives the registration. Frames outside of it work too, without overlap of copy and kernel.
  void register_input_buffer(const void* ptr, std::size_t bytes) {
    check_input_buffer(ptr, bytes);
    engine_.register_input({static_cast<const std::byte*>(ptr), bytes});
  }
  /// Waits until no copy reads the memory. Without a registration nothing happens.
  void unregister_input_buffer() { engine_.unregister_input(); }

  /// Adds n_frames ≤ batch_size frames; a short batch is fine, an empty one does nothing. `frames` holds
  /// n_frames × rows × cols values and stays unchanged until flush().
  void submit_batch(std::span<const Pixel> frames, std::int64_t n_frames) {
    check_frames(frames.size(), n_frames, batch_size_, shape());
    submit(frames);
  }

  /// Adds any number of frames: cut along axis 0 into batches of batch_size, the last one shorter.
  void fill_histogram(std::span<const Pixel> frames, std::int64_t n_frames) {
    check_frames(frames.size(), n_frames, std::numeric_limits<std::int64_t>::max(), shape());
    const std::size_t batch_values = batch_size_ * shape().pixels();
    while (frames.size() > batch_values) {
      submit(frames.first(batch_values));
      frames = frames.subspan(batch_values);
    }
    submit(frames);
  }

  /// Waits until everything submitted is in the counts.
  void flush() { engine_.flush(); }

  /// Copies the counts of every batch submitted so far, each capped at the largest Storage (float: rounded
  /// above 2^24), into `out` of rows × cols × nbins. Filling may go on afterwards; the counts are unchanged.
  /// Returns how many cells were cut by Storage.
  std::uint64_t values(std::span<Storage> out) {
    check_output(out.size(), shape(), nbins());
    return read_bins(Rect::whole(shape()), out);
  }
  std::vector<Storage> values() {
    std::vector<Storage> out(shape().pixels() * nbins());
    read_bins(Rect::whole(shape()), std::span<Storage>(out));
    return out;
  }

  /// The nbins counts of one pixel, capped alike. row in [0, rows), col in [0, cols).
  std::vector<Storage> values_pixel(std::int64_t row, std::int64_t col) {
    std::vector<Storage> out(nbins());
    read_bins(checked_pixel(row, col, shape()), std::span<Storage>(out));
    return out;
  }

  /// Values that got no bin, (rows, cols): under xmin, at or above xmax, NaN or declared invalid or masked,
  /// and (adc_g0|g1|g2) of another gain stage. Per pixel these and the bins sum up to frames().
  std::vector<std::uint32_t> below() { return read_flow(Flow::below); }
  std::vector<std::uint32_t> above() { return read_flow(Flow::above); }
  std::vector<std::uint32_t> invalid() { return read_flow(Flow::invalid); }
  std::vector<std::uint32_t> other_stage() { return read_flow(Flow::other_stage); }

  /// Frames since construction or reset().
  std::uint64_t frames() const { return engine_.frames(); }
  /// Cells that have reached 2^32-1 and stay there.
  std::uint64_t saturated_cells() { return engine_.saturated_cells(); }

  /// nbins + 1 edges xmin + (i * (xmax - xmin)) / nbins, and nbins centers (edges[i] + edges[i+1]) / 2, in
  /// Axis. For plotting: a value within an ulp of an edge may have been counted in the neighbour bin.
  std::vector<Axis> bin_edges() const { return pixhist::bin_edges(scale()); }
  std::vector<Axis> bin_centers() const { return pixhist::bin_centers(scale()); }

  /// Zeroes all counts, after what was submitted before it.
  void reset() { engine_.zero(); }

  FrameShape shape() const { return engine_.spec().shape; }
  std::uint32_t nbins() const { return engine_.spec().axis.bins; }
  std::uint32_t batch_size() const { return batch_size_; }

 private:
  BinScale<Axis> scale() const {
    const AxisSpec& axis = engine_.spec().axis;
    return make_bin_scale<Axis>(axis.bins, axis.min, axis.max);
  }

  void submit(std::span<const Pixel> frames) {
    if (!frames.empty()) engine_.submit(std::as_bytes(frames).data(), frames.size() / shape().pixels());
  }

  std::uint64_t read_bins(const Rect& pixels, std::span<Storage> out) {
    CountTarget target;
    target.counts = std::as_writable_bytes(out).data();
    target.row_stride = static_cast<std::ptrdiff_t>(std::size_t{pixels.cols()} * nbins() * sizeof(Storage));
    return engine_.read({pixels, {0, nbins()}, storage_type}, target);
  }

  std::vector<std::uint32_t> read_flow(Flow flow) {
    std::vector<std::uint32_t> out(shape().pixels());
    CountTarget target;
    target.flow[static_cast<std::size_t>(flow)] = out.data();
    target.flow_row_stride = shape().cols;
    engine_.read({Rect::whole(shape()), {0, nbins()}, storage_type}, target);
    return out;
  }

  const std::uint32_t batch_size_;
  Engine engine_;
};

}  // namespace pixhist
