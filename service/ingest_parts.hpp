#pragma once
// What a configuration means for receiving frames: rings, sockets, I/O threads. The service receives with
// these, and so does whoever wants to be compared with it.

#include <memory>
#include <thread>
#include <vector>

#include "core/memory/host_memory.hpp"
#include "service/agents/ingest_lane.hpp"
#include "service/agents/receive_pace.hpp"
#include "service/config/config.hpp"
#include "service/transport/ingest_socket.hpp"

namespace pixhist {

/// I/O threads of the ZeroMQ context for all data sockets: one for four of the `cores` this process may use
/// (0: not known), at least one, at most 16 and one a socket.
int io_threads(const Config& config, unsigned cores = std::thread::hardware_concurrency());

/// ZMQ_MAX_SOCKETS of that context: each data socket has two more that watch its connections.
int most_sockets(const Config& config);

/// ZMQ_AFFINITY of data socket number `socket`, counted over all sources: one of `threads` I/O threads, in
/// turn. Left to itself, ZeroMQ puts sockets that connect at the same time all on one.
std::uint64_t io_affinity(std::size_t socket, int threads);

/// Bytes of the largest raw frame of any source.
std::uint64_t largest_frame(const Config& config);

/// One lane a socket: sources in order, in each its endpoints in order. Throws what `memory` throws.
std::vector<std::unique_ptr<IngestLane>> make_lanes(const Config& config, HostMemory& memory,
                                                    MemoryAccount& account);

/// Of the lane's socket, which is number `socket` of all; on_cut is left to the caller. max_parts: of a legal
/// message of its format.
IngestSocketOptions ingest_options(const Config& config, const IngestLane& lane, std::size_t socket,
                                   std::size_t max_parts);

/// How the frame numbers of source number `source` are judged: as configured, but with several sockets in a
/// window that holds at least what may lie in their queues. Each connection keeps its order; how far they lag
/// behind one another is the business of senders, kernel and schedulers.
SequenceRules sequence_rules(const Config& config, std::size_t source);

/// How the lane's receive thread waits, with a socket of these options.
ReceivePace ingest_pace(const Config& config, const IngestLane& lane, const IngestSocketOptions& options);

}  // namespace pixhist
