#include "core/account/frame_account.hpp"

#include <functional>
#include <limits>
#include <numeric>

namespace pixhist {
namespace {

/// A wild frame number can bring `missing` of one source to its limit, so sums stay there instead of
/// wrapping.
struct SaturatingPlus {
  std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const {
    return a > std::numeric_limits<std::uint64_t>::max() - b ? std::numeric_limits<std::uint64_t>::max()
                                                             : a + b;
  }
};

/// a = op(a, b) for each counter; `gauge_op` for the numbers that also fall.
template <class Op, class GaugeOp>
void combine(FrameAccount& a, const FrameAccount& b, Op op, GaugeOp gauge_op) {
  for (const auto counter :
       {&FrameAccount::accepted, &FrameAccount::dropped, &FrameAccount::control, &FrameAccount::accumulated,
        &FrameAccount::missing, &FrameAccount::late, &FrameAccount::incomplete, &FrameAccount::restarted,
        &FrameAccount::received_bytes, &FrameAccount::pixel_bytes, &FrameAccount::taken_pixel_bytes})
    a.*counter = op(a.*counter, b.*counter);
  for (std::size_t i = 0; i < a.rejected.size(); ++i) a.rejected[i] = op(a.rejected[i], b.rejected[i]);
  for (std::size_t i = 0; i < a.discarded.size(); ++i) a.discarded[i] = op(a.discarded[i], b.discarded[i]);
  for (const auto gauge : {&FrameAccount::in_ring, &FrameAccount::in_flight, &FrameAccount::open})
    a.*gauge = gauge_op(a.*gauge, b.*gauge);
}

}  // namespace

std::uint64_t FrameAccount::rejected_total() const {
  return std::accumulate(rejected.begin(), rejected.end(), std::uint64_t{0});
}

std::uint64_t FrameAccount::discarded_total() const {
  return std::accumulate(discarded.begin(), discarded.end(), std::uint64_t{0});
}

FrameAccount& FrameAccount::operator+=(const FrameAccount& other) {
  combine(*this, other, SaturatingPlus{}, SaturatingPlus{});
  return *this;
}

FrameAccount read_account(std::span<const ReceiveCounters* const> rings, const SubmitCounters& submit) {
  FrameAccount account;
  // Downstream first. Every counter here is advanced after the one upstream of it and stored with release, so
  // an acquire load makes at least that much visible upstream: taken >= accumulated + discarded, and, through
  // the ring's commit, accepted >= taken.
  account.accumulated = submit.accumulated.get();
  for (std::size_t i = 0; i < account.discarded.size(); ++i) account.discarded[i] = submit.discarded[i].get();
  account.missing = submit.missing.get();
  account.late = submit.late.get();
  account.incomplete = submit.incomplete.get();
  account.restarted = submit.restarted.get();
  account.open = submit.open.get();
  account.taken_pixel_bytes = submit.taken_pixel_bytes.get();
  const std::uint64_t taken = submit.taken.get();

  for (const ReceiveCounters* ring : rings) {
    account.accepted += ring->accepted.get();
    account.dropped += ring->dropped.get();
    account.control += ring->control.get();
    for (std::size_t i = 0; i < account.rejected.size(); ++i) account.rejected[i] += ring->rejected[i].get();
    account.received_bytes += ring->received_bytes.get();
    account.pixel_bytes += ring->pixel_bytes.get();
  }
  account.in_flight = taken - account.accumulated - account.discarded_total();
  account.in_ring = account.accepted - taken;
  return account;
}

FrameAccount since(const FrameAccount& now, const FrameAccount& base) {
  FrameAccount run = now;
  combine(run, base, std::minus<>{}, [](std::uint64_t gauge_now, std::uint64_t) { return gauge_now; });
  return run;
}

FrameAccount start_of_run(FrameAccount now) {
  now.accepted = now.accumulated + now.discarded_total();
  now.pixel_bytes = now.taken_pixel_bytes;  // a run begins behind a barrier: what is taken is resolved
  now.in_ring = 0;
  now.in_flight = 0;
  now.open = 0;
  return now;
}

}  // namespace pixhist
