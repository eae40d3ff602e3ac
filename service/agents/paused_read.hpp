#pragma once
// Reading where the device has no room for a copy of it all: in blocks of rows, one after the other. The
// caller, the submit thread, fills nothing meanwhile, so all blocks are of one cut.

#include <memory>

#include "core/snapshot/assembly.hpp"

namespace pixhist {

/// Begins a piece; with `pause`, if the device has no memory for it, reads it in blocks as large as there is
/// memory for, and waits for each. Throws what begin_piece() throws; with `pause` DeviceMemoryError only if
/// there is none for a single row.
std::unique_ptr<CountRead> begin_part(PixelCounts& counts, const AssemblyPiece& piece, bool pause);

}  // namespace pixhist
