#pragma once
// memcpy for what is not read again soon by this core.

#include <cstddef>
#include <span>

namespace pixhist {

/// Copies past the caches: the lines written are neither read from memory first nor kept, so what the caches
/// hold stays there. `to` is a multiple of 16, does not overlap `from`, and has room for it. What is stored
/// after the return is not seen before the copy, as with memcpy.
void copy_streaming(std::span<const std::byte> from, std::byte* to);

}  // namespace pixhist
