#include "core/snapshot/snapshot.hpp"

#include <cstring>
#include <stdexcept>

#include "core/model/stored_count.hpp"

namespace pixhist {
namespace {

/// Copies n counts of type From to type To, capping; returns the cells that were cut.
template <class From, class To>
std::uint64_t convert_counts(const From* from, To* to, std::size_t n) {
  if constexpr (std::is_same_v<From, To>) {
    std::memcpy(to, from, n * sizeof(To));
    return 0;
  } else {
    std::uint64_t capped = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const auto count = static_cast<std::uint32_t>(from[i]);
      capped += count > storage_cap<To>() ? 1 : 0;
      to[i] = stored_count<To>(count);
    }
    return capped;
  }
}

void check_window(const SnapshotWindow& held, const SnapshotWindow& wanted) {
  if (wanted.pixels.empty() || !held.pixels.contains(wanted.pixels))
    throw std::invalid_argument("the region asked for lies outside the region the snapshot holds");
  if (wanted.bins.size() == 0 || !held.bins.contains(wanted.bins))
    throw std::invalid_argument("the bins asked for lie outside the bins the snapshot holds");
  if (held.dtype != StorageType::u32 && held.dtype != wanted.dtype)
    throw std::invalid_argument(
        "the snapshot holds counts of another dtype; only <u4 snapshots can be converted");
}

/// Row by row: a row of the wanted window is cols runs of bins, each contiguous in the held window too.
template <class From, class To>
std::uint64_t extract_counts(const Snapshot& from, Snapshot& to) {
  const auto& held = from.window;
  const auto& wanted = to.window;
  const auto source = from.counts.as<From>();
  auto* out = to.counts.as<To>().data();
  std::uint64_t capped = 0;
  for (std::uint32_t row = wanted.pixels.row_begin; row < wanted.pixels.row_end; ++row) {
    for (std::uint32_t col = wanted.pixels.col_begin; col < wanted.pixels.col_end; ++col) {
      const std::size_t pixel =
          std::size_t{row - held.pixels.row_begin} * held.pixels.cols() + (col - held.pixels.col_begin);
      const From* in = source.data() + pixel * held.bins.size() + (wanted.bins.begin - held.bins.begin);
      capped += convert_counts(in, out, wanted.bins.size());
      out += wanted.bins.size();
    }
  }
  return capped;
}

void extract_flow(const Snapshot& from, Snapshot& to) {
  const auto& held = from.window.pixels;
  const auto& wanted = to.window.pixels;
  for (std::size_t plane = 0; plane < flow_count; ++plane) {
    const auto* in = from.flow.as<std::uint32_t>().data() + plane * held.pixels();
    auto* out = to.flow.as<std::uint32_t>().data() + plane * wanted.pixels();
    for (std::uint32_t row = wanted.row_begin; row < wanted.row_end; ++row, out += wanted.cols())
      std::memcpy(out,
                  in + std::size_t{row - held.row_begin} * held.cols() + (wanted.col_begin - held.col_begin),
                  wanted.cols() * sizeof(std::uint32_t));
  }
}

}  // namespace

SnapshotPtr extract(const Snapshot& from, const SnapshotWindow& window, HostMemory& memory) {
  check_window(from.window, window);
  auto to = std::make_shared<Snapshot>();
  to->cut = from.cut;
  to->window = window;
  to->counts = memory.allocate(window.count_bytes(), Paging::populate);
  to->capped = visit_storage_type(from.window.dtype, [&]<class From>(TypeTag<From>) {
    return visit_storage_type(window.dtype, [&]<class To>(TypeTag<To>) -> std::uint64_t {
      if constexpr (std::is_same_v<From, std::uint32_t> || std::is_same_v<From, To>)
        return extract_counts<From, To>(from, *to);
      else
        throw std::logic_error("check_window() refuses this pair of types");
    });
  });
  if (from.flow.size() != 0) {
    to->flow = memory.allocate(window.flow_bytes(), Paging::populate);
    extract_flow(from, *to);
  }
  return to;
}

}  // namespace pixhist
