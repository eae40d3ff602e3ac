#pragma once
// The value types of pixels, of the axis and of stored counts, and which of them go together.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

namespace pixhist {

/// Type of one pixel value as it comes over the wire and lies in the ring.
enum class PixelType : std::uint8_t { u8, u16, u32, i16, i32, f32, f64 };

/// Type in which a value is binned (A in docs/numerics.md).
enum class AxisType : std::uint8_t { f32, f64 };

/// Type in which counts are handed out. Counts are capped at its maximum; f32 rounds above 2^24.
enum class StorageType : std::uint8_t { u8, u16, u32, f32 };

/// Carries a type as a value, for the visitors below.
template <class T>
struct TypeTag {
  using type = T;
};

/// Calls `visitor(TypeTag<T>{})` with the C++ type of `type`.
template <class Visitor>
constexpr decltype(auto) visit_pixel_type(PixelType type, Visitor&& visitor) {
  switch (type) {
    case PixelType::u8: return visitor(TypeTag<std::uint8_t>{});
    case PixelType::u16: return visitor(TypeTag<std::uint16_t>{});
    case PixelType::u32: return visitor(TypeTag<std::uint32_t>{});
    case PixelType::i16: return visitor(TypeTag<std::int16_t>{});
    case PixelType::i32: return visitor(TypeTag<std::int32_t>{});
    case PixelType::f32: return visitor(TypeTag<float>{});
    case PixelType::f64: break;
  }
  return visitor(TypeTag<double>{});
}

/// Calls `visitor(TypeTag<T>{})` with the C++ type of `type`.
template <class Visitor>
constexpr decltype(auto) visit_storage_type(StorageType type, Visitor&& visitor) {
  switch (type) {
    case StorageType::u8: return visitor(TypeTag<std::uint8_t>{});
    case StorageType::u16: return visitor(TypeTag<std::uint16_t>{});
    case StorageType::u32: return visitor(TypeTag<std::uint32_t>{});
    case StorageType::f32: break;
  }
  return visitor(TypeTag<float>{});
}

constexpr std::size_t size_of(PixelType type) {
  return visit_pixel_type(type, []<class T>(TypeTag<T>) { return sizeof(T); });
}

constexpr std::size_t size_of(StorageType type) {
  return visit_storage_type(type, []<class T>(TypeTag<T>) { return sizeof(T); });
}

constexpr bool is_integer(PixelType type) { return type != PixelType::f32 && type != PixelType::f64; }

template <class T>
constexpr PixelType pixel_type_of() {
  if constexpr (std::is_same_v<T, std::uint8_t>)
    return PixelType::u8;
  else if constexpr (std::is_same_v<T, std::uint16_t>)
    return PixelType::u16;
  else if constexpr (std::is_same_v<T, std::uint32_t>)
    return PixelType::u32;
  else if constexpr (std::is_same_v<T, std::int16_t>)
    return PixelType::i16;
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return PixelType::i32;
  else if constexpr (std::is_same_v<T, float>)
    return PixelType::f32;
  else {
    static_assert(std::is_same_v<T, double>, "not a pixel type");
    return PixelType::f64;
  }
}

template <class T>
constexpr StorageType storage_type_of() {
  if constexpr (std::is_same_v<T, std::uint8_t>)
    return StorageType::u8;
  else if constexpr (std::is_same_v<T, std::uint16_t>)
    return StorageType::u16;
  else if constexpr (std::is_same_v<T, std::uint32_t>)
    return StorageType::u32;
  else {
    static_assert(std::is_same_v<T, float>, "not a storage type");
    return StorageType::f32;
  }
}

/// The axis type a pixel type uses unless configured: the first named pair of docs/numerics.md.
/// u32 and i32 need double because float would put values beyond 2^24 into wrong bins.
constexpr AxisType default_axis_type(PixelType type) {
  switch (type) {
    case PixelType::u32:
    case PixelType::i32:
    case PixelType::f64: return AxisType::f64;
    default: return AxisType::f32;
  }
}

/// True for exactly the pairs that are instantiated: each type's default, and f32 × double.
constexpr bool axis_type_allowed(PixelType type, AxisType axis) {
  return axis == default_axis_type(type) || type == PixelType::f32;
}

constexpr std::string_view name_of(PixelType type) {
  constexpr std::string_view names[] = {"u8", "u16", "u32", "i16", "i32", "f32", "f64"};
  return names[static_cast<std::size_t>(type)];
}

constexpr std::string_view name_of(AxisType type) { return type == AxisType::f32 ? "float" : "double"; }

constexpr std::optional<PixelType> parse_pixel_type(std::string_view name) {
  for (auto type : {PixelType::u8, PixelType::u16, PixelType::u32, PixelType::i16, PixelType::i32,
                    PixelType::f32, PixelType::f64}) {
    if (name_of(type) == name) return type;
  }
  return std::nullopt;
}

}  // namespace pixhist
