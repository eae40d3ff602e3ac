#pragma once
// Pixel types by their NumPy names, as headers on the wire spell them.

#include <optional>
#include <string_view>

#include "core/model/pixel_type.hpp"

namespace pixhist {

/// Every name parse_numpy_name() knows, for messages.
inline constexpr std::string_view numpy_names = "uint8 uint16 uint32 int16 int32 float32 float64";

constexpr std::string_view numpy_name(PixelType type) {
  switch (type) {
    case PixelType::u8: return "uint8";
    case PixelType::u16: return "uint16";
    case PixelType::u32: return "uint32";
    case PixelType::i16: return "int16";
    case PixelType::i32: return "int32";
    case PixelType::f32: return "float32";
    case PixelType::f64: break;
  }
  return "float64";
}

constexpr std::optional<PixelType> parse_numpy_name(std::string_view name) {
  for (const auto type : {PixelType::u8, PixelType::u16, PixelType::u32, PixelType::i16, PixelType::i32,
                          PixelType::f32, PixelType::f64}) {
    if (numpy_name(type) == name) return type;
  }
  return std::nullopt;
}

}  // namespace pixhist
