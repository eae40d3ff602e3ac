#pragma once
// Which counts a request needs, and what they and its answer take in memory. Pure functions.

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "core/snapshot/assembly.hpp"
#include "proto/query/request.hpp"
#include "service/agents/command.hpp"

namespace pixhist {

/// The counts the answer shows, as asked for.
SnapshotWindow window_of(const Request& request);

/// How the answer is made of the counts; nothing: it is counts.
std::optional<ReductionKind> reduction_of(const Request& request);

/// The result stays under an id, for its ttl.
bool is_held(const Request& request);

/// What the submit thread is to read, without its memory. A reduction is read as such, so that only its
/// result leaves the device, but for a difference of cuts where it needs all counts of both.
Snapshot read_of(const Request& request);

/// The same for the submit thread, but for then_reset.
ReadWish wish_of(const Request& request);

/// Bytes of the memory of `read`.
std::size_t bytes_to_read(const Request& request, std::size_t sources);

/// read_of() with its memory, populated, so that the submit thread meets no page faults, and zeroed where no
/// source lies. `sources`: as placed now; those that get a place later do no harm. Throws std::bad_alloc.
std::shared_ptr<Snapshot> prepare_read(const Request& request, std::span<const PlacedSource> sources,
                                       FrameShape detector, HostMemory& memory);

/// Bytes of the arrays of the answer.
std::size_t reply_bytes(const Request& request);

}  // namespace pixhist
