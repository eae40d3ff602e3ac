#pragma once
// The receive thread of one socket: message -> decoder -> ring. The one place where a frame is dropped for
// want of space, and where the only host copy of its pixels is made (message -> ring record).
// Writes its lane's counters; nobody else does.

#include <atomic>
#include <functional>
#include <optional>
#include <string_view>

#include "core/time/clock.hpp"
#include "proto/ingest/frame_decoder.hpp"
#include "service/agents/agent.hpp"
#include "service/agents/doorbell.hpp"
#include "service/agents/ingest_lane.hpp"
#include "service/agents/place_board.hpp"
#include "service/agents/receive_pace.hpp"
#include "service/config/config.hpp"
#include "service/transport/message_source.hpp"

namespace pixhist {

class ReceiveAgent final : public Agent {
 public:
  /// Called for every rejected message, on the receive thread; it limits its own rate.
  using OnReject = std::function<void(const Rejection&)>;
  /// Called when a header's place is news and the frame accepted, on the receive thread.
  using OnPlace = std::function<void(const PlaceVerdict&)>;

  struct Parts {
    IngestLane& lane;
    MessageSource& source;
    FrameDecoder& decoder;
    const Clock& clock;
    Doorbell& submit_doorbell;
    PlaceBoard& places;
    OnFull on_full;
    OnIncomplete on_incomplete;
    OnReject on_reject;
    OnPlace on_place;
    ReceivePace pace{0, {}};  // at once, by default
  };
  explicit ReceiveAgent(Parts parts) : parts_(std::move(parts)) {}

  bool step() override;
  void wait() override;

  /// Any thread: the agent is finished() when nothing came for `quiet`, or `grace` after the request, time
  /// spent waiting for a full ring not counted. The socket stays as it is until then: to unbind it would cut
  /// the connections that were accepted, and lose what lies in their buffers.
  void request_finish(std::chrono::nanoseconds quiet, std::chrono::nanoseconds grace);
  bool finished() const { return finished_.load(std::memory_order_acquire); }
  /// After the thread has ended: counts a frame still waiting for space as dropped. True if there was one.
  bool abandon_waiting();

 private:
  void wait_for_messages();
  void wake_submit();
  bool receive_one();
  std::optional<Rejection> judge(const FrameMessage& frame);
  void accept(const DecodedMessage& message);
  bool try_commit(const FrameMessage& frame);
  void wait_for_ring(const DecodedMessage& message);
  bool ring_has_space();
  void watch_finish(bool received);

  Parts parts_;
  // What could not be committed while the ring was full. The payload lies in the source until the next
  // receive.
  std::optional<DecodedMessage> waiting_;
  std::size_t since_wait_ = 0;       // messages
  std::optional<Place> place_seen_;  // what the last accepted header said, so that few ask the board
  std::optional<std::chrono::nanoseconds> quiet_since_;
  std::optional<std::chrono::nanoseconds> finish_begun_;
  std::chrono::nanoseconds waited_for_ring_{};
  std::optional<std::chrono::nanoseconds> wait_begun_;

  std::atomic<bool> finish_requested_{false};
  std::atomic<std::int64_t> quiet_ns_{0};
  std::atomic<std::int64_t> grace_ns_{0};
  std::atomic<bool> finished_{false};
};

}  // namespace pixhist
