#include "core/accumulators/pixel_histogram/count_checks.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace pixhist {
namespace {

void check_range(const char* name, std::uint32_t begin, std::uint32_t end, std::uint32_t size) {
  if (begin <= end && end <= size) return;
  throw std::invalid_argument(std::string(name) + " [" + std::to_string(begin) + ", " + std::to_string(end) +
                              "), allowed: within [0, " + std::to_string(size) + ")");
}

}  // namespace

void check_window(const HistogramSpec& spec, const CountWindow& window) {
  check_range("rows", window.pixels.row_begin, window.pixels.row_end, spec.shape.rows);
  check_range("cols", window.pixels.col_begin, window.pixels.col_end, spec.shape.cols);
  check_range("bins", window.bins.begin, window.bins.end, spec.axis.bins);
  if (window.rebin == 0 || window.bins.size() % window.rebin != 0)
    throw std::invalid_argument("rebin " + std::to_string(window.rebin) + ", allowed: a divisor of the " +
                                std::to_string(window.bins.size()) + " bins taken");
}

void check_stored_cells(const HistogramSpec& spec, std::span<const std::uint32_t> cells,
                        std::uint64_t bound) {
  const std::size_t row_cells = std::size_t{spec.axis.bins} + flow_count;
  if (cells.size() != spec.shape.pixels() * row_cells)
    throw std::invalid_argument("stored counts have " + std::to_string(cells.size()) +
                                " cells, needed: " + std::to_string(spec.shape.pixels()) + " pixels × " +
                                std::to_string(row_cells));
  const std::uint32_t largest = *std::max_element(cells.begin(), cells.end());
  if (largest > bound)
    throw std::invalid_argument("a stored cell holds " + std::to_string(largest) +
                                ", allowed: at most the bound " + std::to_string(bound) + " stored with it");
}

void refuse_counts(const HistogramSpec& spec, std::string_view where, std::uint64_t there) {
  throw std::invalid_argument("rows × cols × bins is " + std::to_string(spec.shape.rows) + " × " +
                              std::to_string(spec.shape.cols) + " × " + std::to_string(spec.axis.bins) +
                              ", its counts take " + std::to_string(count_bytes(spec)) + " bytes, " +
                              std::string(where) + " has " + std::to_string(there) +
                              " bytes of memory; use fewer bins or a smaller window");
}

}  // namespace pixhist
