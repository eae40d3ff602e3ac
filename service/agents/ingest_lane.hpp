#pragma once
// One data socket's way in: its ring and what its receive thread counts. The receive thread produces, the
// submit thread consumes; both outlive neither.

#include <cstddef>
#include <string>

#include "core/account/frame_account.hpp"
#include "core/ring/byte_ring.hpp"
#include "service/agents/doorbell.hpp"
#include "service/agents/wake_mark.hpp"
#include "service/transport/connection_watch.hpp"

namespace pixhist {

struct IngestLane {
  IngestLane(std::size_t source_index, std::string socket_endpoint, HostBlock memory, std::size_t max_records)
      : source(source_index), endpoint(std::move(socket_endpoint)), ring(std::move(memory), max_records) {}

  const std::size_t source;
  std::string endpoint;  // as bound or connected; constant once the threads run
  ByteRing ring;
  WakeMark wake;   // when the receive thread rings for the submit thread
  Doorbell space;  // rung when records were released, for a receive thread that waits for the ring
  ReceiveCounters counters;
  SocketEventCounters socket_events;
};

}  // namespace pixhist
