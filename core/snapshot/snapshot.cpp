#include "core/snapshot/snapshot.hpp"

#include <cstring>
#include <string>
#include <vector>

#include "core/accumulators/pixel_histogram/cap_counts.hpp"

namespace pixhist {
namespace {

void check_inside(const std::string& name, const SnapshotWindow& held, const SnapshotWindow& window) {
  if (window.pixels.empty() || !held.pixels.contains(window.pixels))
    throw std::invalid_argument("the region asked for lies outside the region that " + name + " holds");
  if (window.bins.size() == 0 || !held.bins.contains(window.bins))
    throw std::invalid_argument("the bins asked for lie outside the bins that " + name + " holds");
}

[[noreturn]] void refuse_counts_that_shrank() {
  throw RunChanged("a count is smaller than it was in the earlier cut: the two belong to different runs");
}

/// Where the pixels of a window lie in a larger one.
struct Inside {
  const SnapshotWindow& held;
  const SnapshotWindow& wanted;

  std::size_t pixel(std::uint32_t row, std::uint32_t col) const {
    return std::size_t{row - held.pixels.row_begin} * held.pixels.cols() + (col - held.pixels.col_begin);
  }
  std::size_t first_cell(std::uint32_t row, std::uint32_t col) const {
    return pixel(row, col) * held.bins.size() + (wanted.bins.begin - held.bins.begin);
  }
};

template <class Fn>
void for_each_pixel(const Rect& pixels, Fn&& fn) {
  for (std::uint32_t row = pixels.row_begin; row < pixels.row_end; ++row) {
    for (std::uint32_t col = pixels.col_begin; col < pixels.col_end; ++col) fn(row, col);
  }
}

/// later - earlier, in place of `earlier`'s copy.
void subtract(const std::uint32_t* later, const std::uint32_t* earlier, std::uint32_t* out, std::size_t n) {
  bool shrank = false;
  for (std::size_t i = 0; i < n; ++i) {
    shrank |= later[i] < earlier[i];
    out[i] = later[i] - earlier[i];
  }
  if (shrank) refuse_counts_that_shrank();
}

template <class To>
std::uint64_t extract_u32(const Snapshot& from, const Snapshot* since, Snapshot& to) {
  const Inside now{from.window, to.window};
  const auto* counts = from.counts.as<std::uint32_t>().data();
  auto* out = to.counts.as<To>().data();
  std::vector<std::uint32_t> difference(to.window.bins.size());
  std::uint64_t capped = 0;
  for_each_pixel(to.window.pixels, [&](std::uint32_t row, std::uint32_t col) {
    const std::uint32_t* in = counts + now.first_cell(row, col);
    if (since != nullptr) {
      const Inside before{since->window, to.window};
      subtract(in, since->counts.as<std::uint32_t>().data() + before.first_cell(row, col), difference.data(),
               difference.size());
      in = difference.data();
    }
    capped += cap_counts(in, to.window.cells(), to.window.rebin, out);
    out += to.window.cells();
  });
  return capped;
}

void extract_as_it_is(const Snapshot& from, Snapshot& to) {
  const Inside inside{from.window, to.window};
  const std::size_t cell = size_of(to.window.dtype);
  const std::size_t bytes = to.window.bins.size() * cell;
  std::byte* out = to.counts.data();
  for_each_pixel(to.window.pixels, [&](std::uint32_t row, std::uint32_t col) {
    std::memcpy(out, from.counts.data() + inside.first_cell(row, col) * cell, bytes);
    out += bytes;
  });
}

void extract_flow(const Snapshot& from, const Snapshot* since, Snapshot& to) {
  const auto plane_of = [](const Snapshot& s, std::size_t plane) {
    return s.flow.as<std::uint32_t>().data() + plane * s.window.pixels.pixels();
  };
  const Rect& wanted = to.window.pixels;
  for (std::size_t plane = 0; plane < flow_count; ++plane) {
    auto* out = to.flow.as<std::uint32_t>().data() + plane * wanted.pixels();
    for (std::uint32_t row = wanted.row_begin; row < wanted.row_end; ++row, out += wanted.cols()) {
      const Inside now{from.window, to.window};
      const auto* in = plane_of(from, plane) + now.pixel(row, wanted.col_begin);
      if (since == nullptr) {
        std::memcpy(out, in, wanted.cols() * sizeof(std::uint32_t));
      } else {
        const Inside before{since->window, to.window};
        subtract(in, plane_of(*since, plane) + before.pixel(row, wanted.col_begin), out, wanted.cols());
      }
    }
  }
}

}  // namespace

void check_same_run(const Cut& later, const Cut& earlier) {
  if (later.run != earlier.run)
    throw RunChanged("the cut is of run " + later.run + ", `since` of run " + earlier.run);
  // Under runs.policy per_run the sources pass from one run to the next at different times.
  for (std::size_t i = 0; i < later.sources.size() && i < earlier.sources.size(); ++i) {
    if (later.sources[i].run != earlier.sources[i].run)
      throw RunChanged("source " + later.sources[i].source + " is in run " + later.sources[i].run +
                       ", in the cut of `since` in run " + earlier.sources[i].run);
  }
  if (earlier.batches > later.batches)
    throw std::invalid_argument("the cut of `since` was taken after the other; exchange the two");
  for (std::size_t i = 0; i < later.sources.size() && i < earlier.sources.size(); ++i) {
    if (earlier.sources[i].frames > later.sources[i].frames) refuse_counts_that_shrank();
  }
}

void check_holds(const char* name, const SnapshotWindow& held, const SnapshotWindow& window) {
  check_inside(name, held, window);
  if (held.dtype != StorageType::u32 || held.rebin != 1)
    throw std::invalid_argument(
        std::string(name) +
        " holds counts of a narrower dtype, which may be capped; allowed is a cut that was "
        "held as <u4");
}

SnapshotPtr extract(const Snapshot& from, const SnapshotWindow& window, HostMemory& memory,
                    const Snapshot* since) {
  const bool as_it_is =
      since == nullptr && from.window.rebin == 1 && window.rebin == 1 && from.window.dtype == window.dtype;
  if (as_it_is)
    check_inside("the snapshot", from.window, window);
  else
    check_holds("the snapshot", from.window, window);
  if (since != nullptr) {
    check_holds("`since`", since->window, window);
    check_same_run(from.cut, since->cut);
  }
  auto to = std::make_shared<Snapshot>();
  to->cut = from.cut;
  to->window = window;
  to->counts = memory.allocate_to_overwrite(window.count_bytes());
  if (as_it_is)
    extract_as_it_is(from, *to);
  else
    to->capped = visit_storage_type(window.dtype,
                                    [&]<class To>(TypeTag<To>) { return extract_u32<To>(from, since, *to); });
  if (from.flow.size() != 0 && (since == nullptr || since->flow.size() != 0)) {
    to->flow = memory.allocate_to_overwrite(window.flow_bytes());
    extract_flow(from, since, *to);
  }
  return to;
}

}  // namespace pixhist
