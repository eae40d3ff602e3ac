#include "proto/ingest/describe_message.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "proto/ingest/array10_decoder.hpp"
#include "proto/ingest/array10_header.hpp"
#include "proto/ingest/decoder_registry.hpp"
#include "proto/ingest/rejection.hpp"
#include "proto/ingest/sls_decoder.hpp"
#include "proto/ingest/sls_encoder.hpp"
#include "proto/ingest/sls_header.hpp"

namespace pixhist {
namespace {

/// Sides of a detector that a configuration allows.
constexpr std::uint64_t max_side = 1 << 20;

/// Nothing where no configuration could have this shape.
std::optional<FrameShape> shape_of(std::uint64_t rows, std::uint64_t cols) {
  if (rows == 0 || cols == 0 || rows > max_side || cols > max_side) return std::nullopt;
  return FrameShape{static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(cols)};
}

/// What the header asks to be configured; where it asks for nothing sensible, the decoder will say what is
/// wrong with it.
FrameDescription read_array10(std::string_view text) {
  FrameDescription description;
  JsonReader reader(max_array10_header_bytes);
  Array10Header header;
  std::string fault;
  if (!read_array10_header(reader, text, array10_frame_keys, header, fault)) return description;
  const std::size_t skip = header.ndim == 3 && header.dims[0] == 1 ? 1 : 0;
  if (header.ndim == skip + 2) {
    description.frame.shape = shape_of(header.dims[skip], header.dims[skip + 1]).value_or(FrameShape{});
  }
  description.frame.pixel_type = header.type.value_or(PixelType::u16);
  description.detector = description.frame.shape;
  return description;
}

FrameDescription read_sls(std::string_view text) {
  FrameDescription description;
  JsonReader reader(max_sls_header_bytes);
  SlsHeader header;
  std::string fault;
  if (!read_sls_header(reader, text, header, fault)) return description;
  const auto& shape = header.shape;
  if (shape.count == 2)
    description.frame.shape = shape_of(shape.values[1], shape.values[0]).value_or(FrameShape{});
  const auto bits = header.number(SlsKey::bitmode);
  description.frame.pixel_type = bits == 8 ? PixelType::u8 : bits == 32 ? PixelType::u32 : PixelType::u16;
  const auto type = header.number(SlsKey::det_type);
  description.jungfrau = type == sls_det_type::jungfrau && bits == 16;
  description.adc14 = description.jungfrau || (type == sls_det_type::moench && bits == 16);
  description.detector = description.frame.shape;
  const auto& ports = header.detshape;
  if (ports.count == 2 && ports.values[0] <= max_side && ports.values[1] <= max_side) {
    description.detector = shape_of(ports.values[1] * description.frame.shape.rows,
                                    ports.values[0] * description.frame.shape.cols)
                               .value_or(description.frame.shape);
  }
  return description;
}

/// Values that hold 2^32-1 mean "no data" where 32-bit counts are sent.
template <class T>
bool is_value(T value) {
  if constexpr (std::is_floating_point_v<T>) return std::isfinite(value);
  return !std::is_same_v<T, std::uint32_t> || value != std::numeric_limits<T>::max();
}

template <class T>
void find_range(MessagePart pixels, FrameDescription& description) {
  bool found = false;
  for (std::size_t at = 0; at + sizeof(T) <= pixels.size(); at += sizeof(T)) {
    T value{};
    std::memcpy(&value, pixels.data() + at, sizeof(T));
    if (!is_value(value)) continue;
    const auto x = static_cast<double>(value);
    description.lowest = found ? std::min(description.lowest, x) : x;
    description.highest = found ? std::max(description.highest, x) : x;
    found = true;
  }
}

/// The whole detector must hold the place that the header names; else the frame alone is what is known.
void fit_detector(FrameDescription& description) {
  if (!description.place) return;
  const auto& [rows, cols] = description.frame.shape;
  const auto end = footprint(*description.place, description.frame.shape);
  if (end.row_end <= description.detector.rows && end.col_end <= description.detector.cols) return;
  description.detector = {std::max(description.detector.rows, end.row_end),
                          std::max(description.detector.cols, end.col_end)};
  if (shape_of(description.detector.rows, description.detector.cols)) return;
  description.detector = {rows, cols};
  description.place.reset();
}

}  // namespace

MessageDescription describe_message(std::string_view format, std::span<const MessagePart> parts) {
  FrameDescription description;
  if (!parts.empty() && parts[0].size() <= max_sls_header_bytes)
    description = format == "sls" ? read_sls(text_of(parts[0])) : read_array10(text_of(parts[0]));
  const auto decoded = make_decoder(format, description.frame)->decode(parts);
  if (const auto* rejection = std::get_if<Rejection>(&decoded)) {
    if (rejection->reason == RejectReason::geometry && description.frame.shape.pixels() == 0)
      return UnusableMessage{"geometry: a frame needs rows and columns from 1 to " +
                             std::to_string(max_side)};
    return UnusableMessage{std::string(name_of(rejection->reason)) + ": " + rejection->message};
  }
  const auto* const frame = std::get_if<FrameMessage>(&decoded);
  if (frame == nullptr) return NoFrameYet{};
  if (description.frame.shape.pixels() == 0) return UnusableMessage{"geometry: a frame without pixels"};
  description.place = frame->place;
  fit_detector(description);
  visit_pixel_type(description.frame.pixel_type,
                   [&]<class T>(TypeTag<T>) { find_range<T>(frame->payload, description); });
  return description;
}

}  // namespace pixhist
