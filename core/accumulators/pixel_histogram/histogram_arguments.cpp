#include "core/accumulators/pixel_histogram/histogram_arguments.hpp"

#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace pixhist {
namespace {

// A frame's size in bytes travels as 32 bits to the device.
constexpr std::uint64_t max_frame_bytes = std::numeric_limits<std::uint32_t>::max();

[[noreturn]] void fail(const std::string& what) { throw std::invalid_argument(what); }

void check_range(const char* name, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value < least || value > most)
    fail(std::string(name) + " is " + std::to_string(value) + ", allowed: " + std::to_string(least) + " to " +
         std::to_string(most));
}

std::uint32_t checked_size(const char* name, std::int64_t value, std::int64_t most) {
  check_range(name, value, 1, most);
  return static_cast<std::uint32_t>(value);
}

std::string text(FrameShape shape) { return std::to_string(shape.rows) + ", " + std::to_string(shape.cols); }

}  // namespace

HistogramSpec make_spec(const HistogramArguments& arguments, const HistogramTypes& types,
                        HistogramOptions options) {
  constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
  HistogramSpec spec;
  spec.shape = {checked_size("rows", arguments.rows, most), checked_size("cols", arguments.cols, most)};
  spec.pixel_type = types.pixel;
  spec.axis = {checked_size("nbins", arguments.nbins, max_bins), arguments.xmin, arguments.xmax, types.axis};
  spec.map = types.map;
  spec.invalid_values = std::move(options.invalid_values);
  spec.mask = std::move(options.mask);
  check(spec);
  if (spec.shape.pixels() > max_frame_bytes / size_of(types.pixel))
    fail("rows × cols is " + std::to_string(spec.shape.rows) + " × " + std::to_string(spec.shape.cols) +
         ", allowed: frames of at most " + std::to_string(max_frame_bytes) + " bytes");
  return spec;
}

std::uint32_t checked_batch_size(std::int64_t batch_size) {
  return checked_size("batch_size", batch_size, std::numeric_limits<std::int32_t>::max());
}

void check_frames(std::size_t values, std::int64_t n_frames, std::int64_t most, FrameShape shape) {
  check_range("n_frames", n_frames, 0, most);
  // Divided, because the product of a wrong n_frames may overflow.
  const auto n = static_cast<std::size_t>(n_frames);
  if (values % shape.pixels() != 0 || values / shape.pixels() != n)
    fail("frames has " + std::to_string(values) + " values, needed: shape (n_frames, rows, cols) = (" +
         std::to_string(n_frames) + ", " + text(shape) + ")");
}

void check_output(std::size_t values, FrameShape shape, std::uint32_t nbins) {
  if (values != shape.pixels() * nbins)
    fail("out has " + std::to_string(values) + " values, needed: shape (rows, cols, nbins) = (" +
         text(shape) + ", " + std::to_string(nbins) + ")");
}

Rect checked_pixel(std::int64_t row, std::int64_t col, FrameShape shape) {
  check_range("row", row, 0, std::int64_t{shape.rows} - 1);
  check_range("col", col, 0, std::int64_t{shape.cols} - 1);
  const auto r = static_cast<std::uint32_t>(row);
  const auto c = static_cast<std::uint32_t>(col);
  return {r, r + 1, c, c + 1};
}

void check_input_buffer(const void* data, std::size_t bytes) {
  if (data == nullptr) fail("ptr is null, allowed: the first byte of the buffer");
  if (bytes == 0) fail("bytes is 0, allowed: at least 1");
}

}  // namespace pixhist
