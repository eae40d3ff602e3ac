#pragma once
// A row of counts in the type it is handed out in, on the host.

#include <cstddef>
#include <cstdint>

#include "core/model/stored_count.hpp"

namespace pixhist {

/// Adds each `rebin` neighbours of `counts` and caps the sum, n times. Returns the cells cut.
template <class Storage>
std::uint64_t cap_counts(const std::uint32_t* counts, std::size_t n, std::uint32_t rebin, Storage* out) {
  std::uint32_t cut = 0;  // at most max_bins
  if (rebin == 1) {
    for (std::size_t i = 0; i < n; ++i) {
      cut += counts[i] > storage_cap<Storage>() ? 1U : 0U;
      out[i] = stored_count<Storage>(counts[i]);
    }
    return cut;
  }
  for (std::size_t i = 0; i < n; ++i) {
    std::uint64_t sum = 0;
    for (std::uint32_t k = 0; k < rebin; ++k) sum += counts[i * rebin + k];
    cut += sum > storage_cap<Storage>() ? 1U : 0U;
    out[i] = stored_count<Storage>(sum);
  }
  return cut;
}

}  // namespace pixhist
