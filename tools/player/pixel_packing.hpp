#pragma once
// Pixels of fewer bits than a byte or a word, as EIGER sends them.

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/model/pixel_type.hpp"

namespace pixhist {

enum class PixelPacking : std::uint8_t {
  none,
  four_bit,    // of u8: two pixels in a byte, the first in the high nibble; the upper four bits are kept
  twelve_bit,  // of u16: two pixels in three bytes, little-endian; values from 4095 on are sent as 4095
};

/// Bytes of `pixels` pixels; an odd number of packed ones is filled up to a whole byte.
std::size_t packed_bytes(PixelPacking packing, std::size_t pixels, PixelType type);

/// `image` holds u8 or u16 (little-endian), `packed` has packed_bytes().
void pack_pixels(PixelPacking packing, std::span<const std::byte> image, std::span<std::byte> packed);

}  // namespace pixhist
