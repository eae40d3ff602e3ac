#pragma once
// malloc and free of this program, so that the bodies of ZeroMQ messages lie in memory of ours: libzmq has no
// other way to say where a body goes. It allocates each with malloc, its own 40 bytes in front of the pixels.

#include <cstddef>
#include <cstdint>
#include <span>

namespace pixhist::bench {

/// Bytes of one body's slot: pixels begin at a multiple of 64.
std::size_t message_slot_bytes(std::size_t body_bytes);

/// From now on bodies of `body_bytes` come out of `memory`, which outlives every message; while all its slots
/// are taken, and for every other size, from glibc. Call once, before there are messages.
void serve_message_bodies(std::span<std::byte> memory, std::size_t body_bytes);

/// Bodies that found no slot.
std::uint64_t bodies_outside_pool();

}  // namespace pixhist::bench
