// Reductions of windows, flipped or not, against plain sums and searches written apart.
#include "tests/contract/contract_support.hpp"

using namespace pixhist;
using namespace pixhist::contract;

namespace {

__extension__ typedef unsigned __int128 Wide;

constexpr std::uint32_t cell_max = std::numeric_limits<std::uint32_t>::max();
constexpr ReductionKind pixel_kinds[] = {ReductionKind::sum, ReductionKind::moments, ReductionKind::median,
                                         ReductionKind::mode, ReductionKind::max};

/// Counts of one source with what a reduction may stumble over.
struct Stored {
  FrameShape shape;
  std::uint32_t bins;
  std::vector<std::uint32_t> cells = std::vector<std::uint32_t>(shape.pixels() * row_cells());

  std::size_t row_cells() const { return std::size_t{bins} + flow_count; }
  std::uint32_t& at(std::size_t pixel, std::size_t bin) { return cells[pixel * row_cells() + bin]; }
  std::uint32_t at(std::size_t pixel, std::size_t bin) const { return cells[pixel * row_cells() + bin]; }

  HistogramSpec spec() const {
    HistogramSpec s;
    s.shape = shape;
    s.pixel_type = PixelType::u16;
    s.axis = {bins, 0, 65536, AxisType::f32};
    return s;
  }
};

/// Of every seven pixels: empty; a single count; one full cell; all cells full; equal cells; sparse;
/// anything. Flow counters are never 0, so that one taken for a bin shows.
Stored make_stored(FrameShape shape, std::uint32_t bins) {
  Stored stored{shape, bins};
  std::mt19937 random(bins);
  for (std::size_t p = 0; p < shape.pixels(); ++p) {
    const auto kind = p % 7;
    if (kind == 1) stored.at(p, random() % bins) = 1;
    if (kind == 2) stored.at(p, random() % bins) = cell_max;
    for (std::uint32_t b = 0; b < bins && kind >= 3; ++b) {
      if (kind == 3) stored.at(p, b) = cell_max;
      if (kind == 4) stored.at(p, b) = 5;
      if (kind == 5) stored.at(p, b) = random() % 9 == 0 ? random() % 4 : 0;
      if (kind == 6) stored.at(p, b) = static_cast<std::uint32_t>(random());
    }
    for (std::uint32_t k = 0; k < flow_count; ++k) stored.at(p, bins + k) = cell_max - k;
  }
  return stored;
}

struct Expected {
  std::uint64_t n = 0;
  std::uint64_t s1 = 0;
  Wide s2 = 0;
  std::uint32_t median = 0;
  std::uint32_t mode = 0;
  std::uint32_t max = 0;
};

Expected expected_of(const Stored& stored, std::size_t pixel, BinRange bins) {
  Expected e;
  std::uint32_t most = 0;
  for (std::uint64_t k = bins.begin; k < bins.end; ++k) {
    const std::uint64_t c = stored.at(pixel, k);
    e.n += c;
    e.s1 += c * k;
    e.s2 += Wide{c * k} * k;
    if (c > most) e.mode = static_cast<std::uint32_t>(k) + 1;
    if (c > most) most = static_cast<std::uint32_t>(c);
    if (c > 0) e.max = static_cast<std::uint32_t>(k) + 1;
  }
  std::uint64_t left = e.n / 2 + e.n % 2;  // the counts to go until the middle one
  for (std::uint32_t k = bins.begin; k < bins.end && left > 0; ++k) {
    const std::uint64_t c = stored.at(pixel, k);
    if (c >= left) e.median = k + 1;
    left = c >= left ? 0 : left - c;
  }
  return e;
}

/// "" if the bytes at `at` are what is expected.
std::string wrong_value(ReductionKind kind, const std::byte* at, const Expected& e) {
  const auto check = [at]<class Value>(Value wanted) {
    Value got;
    std::memcpy(&got, at, sizeof got);
    return got == wanted ? "" : std::to_string(got) + " instead of " + std::to_string(wanted);
  };
  switch (kind) {
    case ReductionKind::sum: return check(e.n);
    case ReductionKind::median: return check(e.median);
    case ReductionKind::mode: return check(e.mode);
    case ReductionKind::max: return check(e.max);
    default: break;
  }
  PixelMoments got;
  std::memcpy(&got, at, sizeof got);
  if (got.n != e.n || got.s1 != e.s1) return "n " + std::to_string(got.n) + " s1 " + std::to_string(got.s1);
  if ((Wide{got.s2.high} << 64U | got.s2.low) != e.s2) return "s2 " + std::to_string(got.s2.low);
  return "";
}

void reduce_now(PixelCounts& counts, const ReductionRequest& request, const ReductionTarget& target) {
  const auto reduction = counts.begin_reduce(request, target);
  while (!reduction->ready()) {
  }
  CHECK_EQ(reduction->frames(), counts.frames());
  CHECK_EQ(reduction->capped(), 0);
}

/// Into a larger area, rows up or down; what lies around stays untouched.
void check_pixels(PixelCounts& counts, const Stored& stored, const ReductionRequest& request, bool flip) {
  const std::size_t height = request.pixels.rows();
  const std::size_t width = request.pixels.cols();
  const std::size_t value = value_bytes(request.kind);
  const std::size_t stride = (width + 3) * value;
  const std::byte untouched{0xA5};
  std::vector<std::byte> out(height * stride + 2 * value, untouched);
  std::byte* const first = out.data() + value;
  ReductionTarget target;
  target.values = first + (flip && height > 0 ? height - 1 : 0) * stride;
  target.row_stride = flip ? -static_cast<std::ptrdiff_t>(stride) : static_cast<std::ptrdiff_t>(stride);
  reduce_now(counts, request, target);
  std::string wrong;
  for (std::size_t r = 0; r < height; ++r) {
    for (std::size_t c = 0; c < width; ++c) {
      std::byte* const at = first + (flip ? height - 1 - r : r) * stride + c * value;
      const std::size_t pixel =
          (request.pixels.row_begin + r) * stored.shape.cols + request.pixels.col_begin + c;
      const auto found = wrong_value(request.kind, at, expected_of(stored, pixel, request.bins));
      if (wrong.empty() && !found.empty()) wrong = "pixel " + std::to_string(pixel) + ": " + found;
      std::fill_n(at, value, untouched);
    }
  }
  CHECK_EQ(wrong, "");
  CHECK(std::all_of(out.begin(), out.end(), [&](std::byte b) { return b == untouched; }));
}

void check_spectrum(PixelCounts& counts, const Stored& stored, const ReductionRequest& request) {
  std::vector<std::uint64_t> got(request.bins.size() + 2, 77);
  std::vector<std::uint64_t> expected(got.size(), 77);
  for (std::uint32_t b = 0; b < request.bins.size(); ++b) {
    expected[b + 1] = 0;
    for (std::uint32_t r = request.pixels.row_begin; r < request.pixels.row_end; ++r) {
      for (std::uint32_t c = request.pixels.col_begin; c < request.pixels.col_end; ++c)
        expected[b + 1] += stored.at(std::size_t{r} * stored.shape.cols + c, request.bins.begin + b);
    }
  }
  reduce_now(counts, request, {reinterpret_cast<std::byte*>(got.data() + 1), 0});
  CHECK_EQ(difference(got, expected), "");
}

template <class Twin>
void check_reductions(FrameShape shape, std::uint32_t bins, std::initializer_list<ReductionRequest> windows,
                      unsigned workers = 2) {
  const Stored stored = make_stored(shape, bins);
  typename Twin::Counts twin(stored.spec(), workers);
  twin.restore(stored.cells, std::uint64_t{7} << 40U, cell_max);
  for (ReductionRequest request : windows) {
    CAPTURE(request.pixels.row_begin);
    CAPTURE(request.pixels.cols());
    CAPTURE(request.bins.begin);
    CAPTURE(request.bins.end);
    request.kind = ReductionKind::spectrum;
    check_spectrum(twin.get(), stored, request);
    for (const auto kind : pixel_kinds) {
      request.kind = kind;
      CAPTURE(kind);
      for (const bool flip : {false, true}) check_pixels(twin.get(), stored, request, flip);
    }
  }
}

}  // namespace

TEST_CASE_TEMPLATE("reductions of windows of pixels and bins", Twin, PIXHIST_TWINS) {
  constexpr std::uint32_t rows = 37;
  constexpr std::uint32_t cols = 53;
  constexpr std::uint32_t bins = 45;
  for (const unsigned workers : {1U, 3U})
    check_reductions<Twin>({rows, cols}, bins,
                           {{{}, {0, rows, 0, cols}, {0, bins}},
                            {{}, {0, 1, 0, 1}, {0, 1}},
                            {{}, {36, 37, 52, 53}, {44, 45}},
                            {{}, {5, 30, 7, 52}, {3, 41}},
                            {{}, {0, 37, 52, 53}, {0, bins}},
                            {{}, {20, 21, 0, cols}, {10, 11}},
                            {{}, {3, 29, 0, cols}, {17, 33}},
                            {{}, {4, 4, 0, 5}, {0, 3}},
                            {{}, {1, 3, 1, 4}, {7, 7}}},
                           workers);
}

TEST_CASE_TEMPLATE("reductions of one bin and of one pixel", Twin, PIXHIST_TWINS) {
  check_reductions<Twin>({7, 9}, 1, {{{}, {0, 7, 0, 9}, {0, 1}}, {{}, {2, 5, 3, 8}, {0, 1}}});
  check_reductions<Twin>({1, 1}, 3000, {{{}, {0, 1, 0, 1}, {0, 3000}}});
}

TEST_CASE_TEMPLATE("reductions of as many bins as there can be, all full", Twin, PIXHIST_TWINS) {
  check_reductions<Twin>({2, 7}, 65536,
                         {{{}, {0, 2, 0, 7}, {0, 65536}},
                          {{}, {0, 1, 3, 7}, {65535, 65536}},
                          {{}, {1, 2, 0, 6}, {1, 65535}},
                          {{}, {0, 2, 1, 6}, {1023, 3073}}});
}

TEST_CASE_TEMPLATE("reductions of more pixels than a block of threads sums", Twin, PIXHIST_TWINS) {
  check_reductions<Twin>(
      {97, 131}, 5,
      {{{}, {0, 97, 0, 131}, {0, 5}}, {{}, {0, 96, 0, 128}, {1, 4}}, {{}, {1, 97, 2, 131}, {4, 5}}});
}

TEST_CASE_TEMPLATE("a reduction is of what was counted before it", Twin, PIXHIST_TWINS) {
  Stored stored{{1, 3}, 4};
  HistogramSpec spec = stored.spec();
  spec.axis.max = 4;
  typename Twin::Counts twin(spec);
  const RingFrames<std::uint16_t> frames({0, 1, 9, 3, 1, 9, 3, 2, 9}, 3);
  twin.accumulate(frames.bytes, frames.table, frames.ok);
  std::vector<std::uint64_t> spectrum(4);
  reduce_now(twin.get(), {ReductionKind::spectrum, {0, 1, 0, 3}, {0, 4}},
             {reinterpret_cast<std::byte*>(spectrum.data()), 0});
  CHECK_EQ(difference(spectrum, std::vector<int>{1, 2, 1, 2}), "");
  std::vector<FoundBin> medians(3);
  reduce_now(twin.get(), {ReductionKind::median, {0, 1, 0, 3}, {0, 4}},
             {reinterpret_cast<std::byte*>(medians.data()), 12});
  CHECK_EQ(difference(medians, std::vector<int>{4, 2, 0}), "");
}

TEST_CASE_TEMPLATE("a reduction that leaves the counts is refused", Twin, PIXHIST_TWINS) {
  typename Twin::Counts twin(Stored{{4, 5}, 6}.spec());
  const auto refused = [&](const Rect& pixels, BinRange bins) {
    return refusal([&] { twin.get().begin_reduce({ReductionKind::sum, pixels, bins}, {}); });
  };
  CHECK_EQ(refused({0, 5, 0, 1}, {0, 1}), "rows [0, 5), allowed: within [0, 4)");
  CHECK_EQ(refused({0, 1, 4, 6}, {0, 1}), "cols [4, 6), allowed: within [0, 5)");
  CHECK_EQ(refused({0, 1, 0, 1}, {6, 7}), "bins [6, 7), allowed: within [0, 6)");
}

TEST_CASE_TEMPLATE("neighbouring bins added up, then capped, in every storage type", Twin, PIXHIST_TWINS) {
  const Stored stored = make_stored({5, 7}, 60);
  typename Twin::Counts twin(stored.spec());
  twin.restore(stored.cells, 1, cell_max);
  const auto check = [&]<class Storage>(const Rect& pixels, BinRange bins, std::uint32_t rebin) {
    const CountWindow window{pixels, bins, storage_type_of<Storage>(), rebin};
    std::vector<Storage> got(pixels.pixels() * window.cells());
    CountTarget target;
    target.counts = reinterpret_cast<std::byte*>(got.data());
    target.row_stride =
        static_cast<std::ptrdiff_t>(std::size_t{pixels.cols()} * window.cells() * sizeof(Storage));
    const std::uint64_t cut = read_now(twin.get(), window, target);
    std::vector<Storage> expected;
    std::uint64_t expected_cut = 0;
    for (std::uint32_t r = pixels.row_begin; r < pixels.row_end; ++r) {
      for (std::uint32_t c = pixels.col_begin; c < pixels.col_end; ++c) {
        for (std::uint32_t b = bins.begin; b < bins.end; b += rebin) {
          std::uint64_t sum = 0;
          for (std::uint32_t k = b; k < b + rebin; ++k) sum += stored.at(r * 7 + c, k);
          expected.push_back(capped<Storage>(sum));
          std::uint64_t most = cell_max;
          if (std::is_integral_v<Storage>)
            most = static_cast<std::uint64_t>(std::numeric_limits<Storage>::max());
          expected_cut += sum > most ? 1U : 0U;
        }
      }
    }
    CHECK_EQ(difference(got, expected), "");
    CHECK_EQ(cut, expected_cut);
  };
  for_each_storage([&]<class Storage>() {
    for (const std::uint32_t rebin : {1U, 2U, 3U, 60U})
      check.template operator()<Storage>({0, 5, 0, 7}, {0, 60}, rebin);
    check.template operator()<Storage>({1, 4, 2, 7}, {5, 54}, 7);
  });
  const auto refused = [&](BinRange bins, std::uint32_t rebin) {
    return refusal([&] { twin.get().begin_read({{0, 1, 0, 1}, bins, StorageType::u32, rebin}, {}); });
  };
  CHECK_EQ(refused({0, 60}, 7), "rebin 7, allowed: a divisor of the 60 bins taken");
  CHECK_EQ(refused({0, 60}, 0), "rebin 0, allowed: a divisor of the 60 bins taken");
}
