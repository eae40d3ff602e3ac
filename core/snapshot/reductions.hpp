#pragma once
// Reductions of snapshots on the host: of held cuts, differences, and the sum over the sources. Exact
// integers.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/snapshot/snapshot.hpp"

namespace pixhist {

/// Bytes of Snapshot::reduced for `sources` sources.
std::size_t reduced_bytes(ReductionKind kind, const SnapshotWindow& window, std::size_t sources);

/// The reduction of a part of `from`, with its cut, equal to what a device gives for the same counts; a
/// spectrum is that of one source. Throws std::invalid_argument if `from` does not hold the window as u32,
/// std::bad_alloc.
SnapshotPtr reduce(const Snapshot& from, const SnapshotWindow& window, ReductionKind kind,
                   HostMemory& memory);

/// The reduction of the counts between two cuts, by value; `later` and `earlier` are reductions of the same
/// window, of a kind that is_linear(). Throws what check_same_run() throws, std::bad_alloc.
SnapshotPtr subtract_reduced(const Snapshot& later, const Snapshot& earlier, HostMemory& memory);

/// One spectrum of a reduction of kind spectrum. Cannot overflow: at most frames × pixels.
std::vector<std::uint64_t> sum_of_sources(const Snapshot& reduced);

}  // namespace pixhist
