#include "proto/ingest/sls_decoder.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "proto/ingest/numpy_type.hpp"
#include "proto/ingest/rejection.hpp"
#include "proto/ingest/sls_encoder.hpp"
#include "proto/ingest/sls_header.hpp"

namespace pixhist {
namespace {

Rejection reject_missing(SlsKey key) {
  return reject(RejectReason::bad_header, "the header lacks `" + std::string(name_of(key)) +
                                              "`, which slsReceivers from version 5.0 on send");
}

/// Whether this is a header of a version that is read, and frame or end can be told.
std::optional<Rejection> judge_kind(const SlsHeader& header) {
  if (!header.is_object) return reject(RejectReason::bad_header, "the header is JSON, but not an object");
  if (!header.has(SlsKey::json_version) && header.has(SlsKey::htype)) {
    return reject(RejectReason::unknown_message,
                  "htype \"" + header.htype + "\" and no `jsonversion`: not from an slsReceiver");
  }
  const auto fault = first_fault(header, {SlsKey::json_version, SlsKey::data});
  if (!fault.empty()) return reject(RejectReason::bad_header, fault);
  if (!header.has(SlsKey::json_version)) return reject_missing(SlsKey::json_version);
  const auto version = header.number(SlsKey::json_version);
  if (version != 4 && version != 5) {
    return reject(RejectReason::bad_header,
                  "jsonversion " + std::to_string(version) +
                      "; allowed: 4 (slsDetectorPackage 5.0 to 7.0.1) and 5 (from 7.0.2 on)");
  }
  if (!header.has(SlsKey::data)) return reject_missing(SlsKey::data);
  return std::nullopt;
}

std::optional<Rejection> judge_keys(const SlsHeader& header) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(first_descriptive_sls_key); ++i) {
    const auto key = static_cast<SlsKey>(i);
    if (!header.fault_of(key).empty()) return reject(RejectReason::bad_header, header.fault_of(key));
    if (!header.has(key) && key != SlsKey::flip_rows) return reject_missing(key);
  }
  return std::nullopt;
}

std::optional<Rejection> judge_pixels(const SlsHeader& header, const ExpectedFrame& expected) {
  const auto bits = header.number(SlsKey::bitmode);
  if (bits != 8 && bits != 16 && bits != 32) {
    const bool packed = bits == 4 || bits == 12;
    return reject(RejectReason::encoding, "bitmode " + std::to_string(bits) + " is " +
                                              (packed ? "not built yet" : "unknown") +
                                              "; allowed: 8, 16 and 32: set the detector's dynamic range");
  }
  if (bits != size_of(expected.pixel_type) * 8 || !is_integer(expected.pixel_type)) {
    return reject(RejectReason::dtype, "bitmode " + std::to_string(bits) + ": integers of " +
                                           std::to_string(bits) + " bits; the configured type is " +
                                           std::string(numpy_name(expected.pixel_type)));
  }
  return std::nullopt;
}

std::string extents_text(const SlsExtents& extents) {
  std::string out = "[";
  for (std::size_t i = 0; i < extents.count && i < extents.values.size(); ++i) {
    if (i > 0) out += ", ";
    out += std::to_string(extents.values[i]);
  }
  if (extents.count > extents.values.size()) out += ", ...";
  return out + ']';
}

std::optional<Rejection> judge_shape(const SlsHeader& header, FrameShape expected) {
  const auto& shape = header.shape;
  if (shape.count == 2 && shape.values[0] == expected.cols && shape.values[1] == expected.rows)
    return std::nullopt;
  return reject(RejectReason::geometry, "shape " + extents_text(shape) +
                                            " (columns, rows); the configured shape is " + shown(expected) +
                                            " (rows, cols)");
}

/// Of a header whose row, column and shape are good; nothing if the port ends beyond 2^32 - 1.
std::optional<Place> place_of(const SlsHeader& header, FrameShape shape) {
  const auto row = header.number(SlsKey::row) * shape.rows;  // below 2^48
  const auto col = header.number(SlsKey::column) * shape.cols;
  constexpr std::uint64_t limit = std::numeric_limits<std::uint32_t>::max();
  if (row + shape.rows > limit || col + shape.cols > limit) return std::nullopt;
  // On other detectors the flag turns the image before it is sent.
  const bool flip =
      header.number(SlsKey::flip_rows) == 1 && header.number(SlsKey::det_type) == sls_det_type::eiger;
  return Place{static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(col), flip};
}

Rejection reject_place(const SlsHeader& header, FrameShape shape) {
  return reject(RejectReason::geometry, "row " + std::to_string(header.number(SlsKey::row)) + ", column " +
                                            std::to_string(header.number(SlsKey::column)) + " in ports of " +
                                            shown(shape) + " (rows, cols) end beyond 2^32 - 1 pixels");
}

std::optional<Rejection> judge_size(const SlsHeader& header, MessagePart pixels,
                                    const ExpectedFrame& expected) {
  const auto said = header.number(SlsKey::size);
  if (said == pixels.size() && said == expected.bytes()) return std::nullopt;
  return reject(RejectReason::size, "the pixel part has " + std::to_string(pixels.size()) +
                                        " bytes, the header says " + std::to_string(said) + "; " +
                                        shown(expected.shape) + ' ' +
                                        std::string(numpy_name(expected.pixel_type)) + " needs exactly " +
                                        std::to_string(expected.bytes()));
}

}  // namespace

DecodedMessage SlsDecoder::decode(std::span<const MessagePart> parts) {
  if (parts.empty() || parts.size() > 2) {
    return reject(RejectReason::parts, parts.empty() ? "no part; a frame has 2, header and pixels"
                                                     : "more than 2 parts; a frame has 2, header and pixels");
  }
  if (parts[0].size() > max_sls_header_bytes) {
    return reject(RejectReason::too_large, "the header has " + std::to_string(parts[0].size()) +
                                               " bytes; at most " + std::to_string(max_sls_header_bytes) +
                                               " are read");
  }
  SlsHeader header;
  std::string fault;
  if (!read_sls_header(reader_, text_of(parts[0]), header, fault)) {
    return reject(RejectReason::not_json,
                  "the header is not JSON: " + fault +
                      ". slsReceivers escape nothing: no \" or \\ in file names and additional keys");
  }
  if (auto rejection = judge_kind(header)) return *std::move(rejection);
  const bool end = header.number(SlsKey::data) == 0;
  if (end != (parts.size() == 1)) {
    return reject(RejectReason::parts, end ? "`data` is 0 and there are 2 parts; an end marker has 1"
                                           : "`data` is 1 and there is 1 part; a frame has 2");
  }
  return end ? decode_end() : decode_frame(header, parts[1]);
}

/// May come several times, early, or without a frame before it; only `data` tells it, since newer receivers
/// fill in the other keys. It names no run: a port has one at a time.
DecodedMessage SlsDecoder::decode_end() {
  ++ends_;
  ControlMessage control;
  control.mark = true;
  control.info.kind = RecordKind::run_end;
  return control;
}

DecodedMessage SlsDecoder::decode_frame(const SlsHeader& header, MessagePart pixels) {
  if (auto rejection = judge_keys(header)) return *std::move(rejection);
  if (auto rejection = judge_pixels(header, expected_)) return *std::move(rejection);
  if (auto rejection = judge_shape(header, expected_.shape)) return *std::move(rejection);
  const auto place = place_of(header, expected_.shape);
  if (!place) return reject_place(header, expected_.shape);
  if (auto rejection = judge_size(header, pixels, expected_)) return *std::move(rejection);
  FrameMessage frame;
  frame.info.has_number = true;
  frame.info.number = header.number(SlsKey::frame_number);
  if (header.number(SlsKey::complete_image) == 0) frame.info.flags = 0;
  frame.info.run = run_of(header);
  frame.payload = pixels;
  frame.place = place;
  return frame;
}

/// frameNumber - frameIndex is the number of the first frame that this port received, constant in an
/// acquisition (modulo 2^64, whatever the header says). It repeats where somebody sets the detector's counter
/// back, or restarts the detector, with file writing off: a frame behind an end marker that does not go on
/// where the acquisition was is therefore of a new one, even if all three are what they were.
RunKey SlsDecoder::run_of(const SlsHeader& header) {
  RunKeyBuilder run = header.fname;
  run.add(header.number(SlsKey::file_index));
  run.add(header.number(SlsKey::frame_number) - header.number(SlsKey::frame_index));
  const RunKey name = run.key();
  const auto frame_index = header.number(SlsKey::frame_index);
  const bool same = name == acquisitions_[current_].name;
  if (!same) current_ = remembered(name);
  Acquisition& acquisition = acquisitions_[current_];
  const bool goes_on = same && frame_index > acquisition.frame_index;
  if (acquisition.ends != ends_ && !goes_on) ++acquisition.repetition;
  acquisition.ends = ends_;
  acquisition.frame_index = frame_index;
  run.add(acquisition.repetition);
  return run.key();
}

/// The place of the acquisition of this name; that of the name begun longest ago where it is new.
std::size_t SlsDecoder::remembered(const RunKey& name) {
  const auto* const found = std::find_if(acquisitions_.begin(), acquisitions_.end(),
                                         [&](const Acquisition& a) { return a.name == name; });
  if (found != acquisitions_.end()) return static_cast<std::size_t>(found - acquisitions_.begin());
  const std::size_t place = next_++ % acquisitions_.size();
  acquisitions_[place] = {name, 0, 0, ends_};
  return place;
}

}  // namespace pixhist
