#include "service/agents/receive_agent.hpp"

#include <cstring>
#include <thread>

#include "core/memory/streaming_copy.hpp"

namespace pixhist {
namespace {

/// Messages per step, so that beats and stops come through under full load.
constexpr int messages_per_step = 64;
/// From this size on a batch of default length is more than the caches hold: a frame would be out of them
/// before it is read, and would only have driven out what is.
constexpr std::size_t streamed_from_bytes = 256 << 10;
constexpr auto socket_wait = std::chrono::milliseconds(100);
constexpr auto finishing_wait = std::chrono::milliseconds(10);
constexpr auto ring_wait = std::chrono::milliseconds(10);  // a release wakes us sooner

void copy_pixels(std::span<const std::byte> from, std::span<std::byte> to) {
  if (from.size() >= streamed_from_bytes)
    copy_streaming(from, to.data());
  else
    std::memcpy(to.data(), from.data(), from.size());
}

}  // namespace

bool ReceiveAgent::step() {
  if (finished()) return false;
  bool received = false;
  for (int i = 0; i < messages_per_step; ++i) {
    if (waiting_) {
      const DecodedMessage message = *std::exchange(waiting_, std::nullopt);
      accept(message);
      if (waiting_) break;
      waited_for_ring_ += parts_.clock.now() - *std::exchange(wait_begun_, std::nullopt);
      received = true;
    }
    if (!receive_one()) break;
    ++since_wait_;
    received = true;
    if (waiting_) break;
  }
  if (received) wake_submit();
  watch_finish(received);
  return received && !waiting_;
}

/// A message in hand means that the ring is full: whatever is wanted, it cannot come.
void ReceiveAgent::wake_submit() {
  auto& lane = parts_.lane;
  const auto committed = lane.ring.committed();
  if (lane.wake.reached(committed) || lane.wake.hurried(lane.ring.taken()) || waiting_)
    parts_.submit_doorbell.ring();
}

void ReceiveAgent::wait() {
  if (waiting_ || finished()) parts_.source.attend();
  if (waiting_)
    parts_.lane.space.wait(ring_wait, [this] { return ring_has_space(); });
  else if (finished())
    std::this_thread::sleep_for(finishing_wait);
  else if (finish_requested_.load(std::memory_order_relaxed))
    parts_.source.wait(finishing_wait);
  else
    wait_for_messages();
}

void ReceiveAgent::wait_for_messages() {
  parts_.pace.drained(std::exchange(since_wait_, 0), parts_.clock.now());
  if (const auto nap = parts_.pace.nap(); nap != nap.zero())
    std::this_thread::sleep_for(nap);
  else
    parts_.source.wait(socket_wait);
}

bool ReceiveAgent::receive_one() {
  const auto message = parts_.source.receive();
  if (!message) return false;
  auto& counters = parts_.lane.counters;
  counters.received_bytes.add(message->bytes);
  DecodedMessage decoded = parts_.decoder.decode(message->parts);
  if (auto* frame = std::get_if<FrameMessage>(&decoded)) {
    frame->info.received = parts_.clock.now();
    if (auto rejection = judge(*frame)) decoded = *std::move(rejection);
  }
  accept(decoded);
  return true;
}

/// What the decoder cannot know: how the source treats incomplete frames, and where the others lie.
std::optional<Rejection> ReceiveAgent::judge(const FrameMessage& frame) {
  const bool complete = (frame.info.flags & frame_flags::complete) != 0;
  if (!complete && parts_.on_incomplete == OnIncomplete::reject)
    return Rejection{RejectReason::incomplete,
                     "parts of the frame were lost before it was sent; on_incomplete: reject takes complete "
                     "frames only"};
  if (!frame.place || frame.place == place_seen_) return std::nullopt;
  PlaceVerdict verdict = parts_.places.judge(parts_.lane.source, *frame.place);
  if (!verdict.accepted()) return Rejection{RejectReason::geometry, std::move(verdict.message)};
  place_seen_ = frame.place;
  if (verdict.news != PlaceVerdict::News::none) parts_.on_place(verdict);
  return std::nullopt;
}

void ReceiveAgent::accept(const DecodedMessage& message) {
  auto& counters = parts_.lane.counters;
  if (const auto* rejection = std::get_if<Rejection>(&message)) {
    counters.reject(rejection->reason);
    parts_.on_reject(*rejection);
  } else if (const auto* control = std::get_if<ControlMessage>(&message)) {
    // A mark is never dropped, whatever on_full says: it carries the end of the run.
    if (control->mark) {
      if (!parts_.lane.ring.try_mark(control->info)) return wait_for_ring(message);
      parts_.lane.wake.hurry(parts_.lane.ring.committed());
    }
    counters.control.add();
  } else if (!try_commit(std::get<FrameMessage>(message))) {
    if (parts_.on_full == OnFull::wait) return wait_for_ring(message);
    counters.dropped.add();
  }
}

void ReceiveAgent::wait_for_ring(const DecodedMessage& message) {
  if (!wait_begun_) wait_begun_ = parts_.clock.now();
  waiting_ = message;
}

/// For the message that waits.
bool ReceiveAgent::ring_has_space() {
  const auto* frame = std::get_if<FrameMessage>(&*waiting_);
  return parts_.lane.ring.try_claim(frame != nullptr ? frame->payload.size() : 0).has_value();
}

bool ReceiveAgent::try_commit(const FrameMessage& frame) {
  auto writer = parts_.lane.ring.try_claim(frame.payload.size());
  if (!writer) return false;
  copy_pixels(frame.payload, writer->payload());
  auto& counters = parts_.lane.counters;
  counters.pixel_bytes.add(frame.payload.size());
  counters.last_frame_unix_ms.set(unix_milliseconds(parts_.clock.wall()));
  // Before the commit: a frame must never be taken before it is accepted.
  counters.accepted.add();
  writer->commit(frame.info);
  return true;
}

void ReceiveAgent::request_finish(std::chrono::nanoseconds quiet, std::chrono::nanoseconds grace) {
  quiet_ns_.store(quiet.count());
  grace_ns_.store(grace.count());
  finish_requested_.store(true, std::memory_order_release);
}

void ReceiveAgent::watch_finish(bool received) {
  if (!finish_requested_.load(std::memory_order_acquire)) return;
  const auto now = parts_.clock.now();
  if (!finish_begun_) {
    finish_begun_ = now;
    waited_for_ring_ = {};
  }
  if (received || waiting_)
    quiet_since_.reset();
  else if (!quiet_since_)
    quiet_since_ = now;
  if (waiting_) return;
  const bool quiet = quiet_since_ && now - *quiet_since_ >= std::chrono::nanoseconds(quiet_ns_.load());
  const bool grace_over =
      now - *finish_begun_ - waited_for_ring_ >= std::chrono::nanoseconds(grace_ns_.load());
  if (quiet || grace_over) finished_.store(true, std::memory_order_release);
}

bool ReceiveAgent::abandon_waiting() {
  if (!waiting_) return false;
  if (std::holds_alternative<FrameMessage>(*waiting_)) parts_.lane.counters.dropped.add();
  waiting_.reset();
  return true;
}

}  // namespace pixhist
