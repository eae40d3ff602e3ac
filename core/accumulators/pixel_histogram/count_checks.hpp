#pragma once
// Checks and messages that both twins share. All throw std::invalid_argument.

#include <cstdint>
#include <span>
#include <string_view>

#include "core/accumulators/pixel_histogram/pixel_counts.hpp"

namespace pixhist {

/// Names what was asked and what there is.
void check_window(const HistogramSpec& spec, const CountWindow& window);

/// `cells` uint32 [pixels][bins + 4] to restore, none above the bound stored with them.
void check_stored_cells(const HistogramSpec& spec, std::span<const std::uint32_t> cells, std::uint64_t bound);

/// The counts of `spec` do not fit into the `there` bytes that `where` ("this machine", "the device") has.
[[noreturn]] void refuse_counts(const HistogramSpec& spec, std::string_view where, std::uint64_t there);

}  // namespace pixhist
