#include "tools/player/pixel_packing.hpp"

#include <algorithm>
#include <cstring>

namespace pixhist {

namespace {

void pack_four_bit(std::span<const std::byte> image, std::span<std::byte> packed) {
  for (std::size_t i = 0; i < packed.size(); ++i) {
    const auto left = image[2 * i] & std::byte{0xF0};
    const auto right = 2 * i + 1 < image.size() ? image[2 * i + 1] >> 4 : std::byte{0};
    packed[i] = left | right;
  }
}

void pack_twelve_bit(std::span<const std::byte> image, std::span<std::byte> packed) {
  const auto pixel = [&](std::size_t i) -> std::uint32_t {
    std::uint16_t value = 0;
    if (2 * i + 1 < image.size()) std::memcpy(&value, image.data() + 2 * i, 2);
    return std::min<std::uint32_t>(value, 0xFFF);
  };
  for (std::size_t at = 0, i = 0; at < packed.size(); at += 3, i += 2) {
    const std::uint32_t bits = pixel(i) | pixel(i + 1) << 12;
    for (std::size_t b = 0; b < 3 && at + b < packed.size(); ++b) {
      packed[at + b] = static_cast<std::byte>(bits >> (8 * b) & 0xFF);
    }
  }
}

}  // namespace

std::size_t packed_bytes(PixelPacking packing, std::size_t pixels, PixelType type) {
  switch (packing) {
    case PixelPacking::four_bit: return (pixels + 1) / 2;
    case PixelPacking::twelve_bit: return (3 * pixels + 1) / 2;
    case PixelPacking::none: break;
  }
  return pixels * size_of(type);
}

void pack_pixels(PixelPacking packing, std::span<const std::byte> image, std::span<std::byte> packed) {
  if (packing == PixelPacking::four_bit)
    pack_four_bit(image, packed);
  else if (packing == PixelPacking::twelve_bit)
    pack_twelve_bit(image, packed);
  else
    std::copy(image.begin(), image.end(), packed.begin());
}

}  // namespace pixhist
