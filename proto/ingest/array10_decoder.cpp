#include "proto/ingest/array10_decoder.hpp"

#include <optional>
#include <string>
#include <utility>

#include "proto/ingest/array10_header.hpp"
#include "proto/ingest/numpy_type.hpp"
#include "proto/ingest/rejection.hpp"

namespace pixhist {
namespace {

std::string shown_shape(const Array10Header& header) {
  std::string out = "[";
  for (std::size_t i = 0; i < header.ndim && i < header.dims.size(); ++i) {
    if (i > 0) out += ", ";
    out += std::to_string(header.dims[i]);
  }
  if (header.ndim > header.dims.size()) out += ", ...";
  return out + ']';
}

bool has_shape(const Array10Header& header, FrameShape shape) {
  const std::size_t skip = header.ndim == 3 && header.dims[0] == 1 ? 1 : 0;
  return header.ndim == skip + 2 && header.dims[skip] == shape.rows && header.dims[skip + 1] == shape.cols;
}

Rejection reject_encoding(const Array10Header& header) {
  const bool planned = header.encoding == "bslz4" || header.encoding == "lz4";
  return reject(RejectReason::encoding, "encoding \"" + header.encoding + "\" is " +
                                            (planned ? "not built yet" : "unknown") +
                                            "; allowed: none, raw or \"\": send the pixels as they are");
}

Rejection reject_type(const Array10Header& header, PixelType expected) {
  const std::string configured = "; the configured type is " + std::string(numpy_name(expected));
  if (header.type) {
    return reject(RejectReason::dtype, "type \"" + std::string(numpy_name(*header.type)) + '"' + configured);
  }
  const bool big = header.type_text.starts_with('>') || header.type_text.find("big") != std::string::npos;
  return reject(RejectReason::dtype, "type \"" + header.type_text + "\" is " +
                                         (big ? "big-endian, which is not read" : "not a known type") +
                                         "; allowed, little-endian: " + std::string(numpy_names) +
                                         configured);
}

DecodedMessage decode_end(const Array10Header& header) {
  if (!header.end) {
    return reject(RejectReason::parts,
                  "1 part; a frame has 2, header and pixels, and an end message says \"end\":true");
  }
  const auto fault = first_fault(header, {Array10Key::end, Array10Key::run, Array10Key::frames});
  if (!fault.empty()) return reject(RejectReason::bad_header, fault);
  ControlMessage control;
  control.mark = true;
  control.info.kind = RecordKind::run_end;
  control.info.run = header.run;
  control.info.has_expected = header.has(Array10Key::frames);
  control.info.expected = header.frames;
  return control;
}

std::optional<Rejection> judge(const Array10Header& header, const ExpectedFrame& expected) {
  const auto fault = first_fault(header, {Array10Key::shape, Array10Key::type, Array10Key::frame,
                                          Array10Key::encoding, Array10Key::compression, Array10Key::run});
  if (!fault.empty()) return reject(RejectReason::bad_header, fault);
  for (const auto key : {Array10Key::shape, Array10Key::type}) {
    if (header.has(key)) continue;
    return reject(RejectReason::bad_header, "the header lacks `" + std::string(name_of(key)) +
                                                "`; a frame's header needs `shape` and `type`");
  }
  if (!header.encoding.empty()) return reject_encoding(header);
  if (header.type != expected.pixel_type) return reject_type(header, expected.pixel_type);
  if (!has_shape(header, expected.shape)) {
    return reject(RejectReason::geometry, "shape " + shown_shape(header) + "; the configured shape is " +
                                              shown(expected.shape) + " (rows, cols)");
  }
  return std::nullopt;
}

DecodedMessage decode_frame(const Array10Header& header, MessagePart pixels, const ExpectedFrame& expected) {
  if (auto rejection = judge(header, expected)) return *std::move(rejection);
  if (pixels.size() != expected.bytes()) {
    return reject(RejectReason::size, "the pixel part has " + std::to_string(pixels.size()) + " bytes; " +
                                          shown(expected.shape) + ' ' +
                                          std::string(numpy_name(expected.pixel_type)) + " needs exactly " +
                                          std::to_string(expected.bytes()));
  }
  FrameMessage frame;
  frame.info.has_number = header.has(Array10Key::frame);
  frame.info.number = header.frame;
  frame.info.run = header.run;
  frame.payload = pixels;
  return frame;
}

}  // namespace

DecodedMessage Array10Decoder::decode(std::span<const MessagePart> parts) {
  if (parts.empty() || parts.size() > 2) {
    return reject(RejectReason::parts, parts.empty() ? "no part; a frame has 2, header and pixels"
                                                     : "more than 2 parts; a frame has 2, header and pixels");
  }
  if (parts[0].size() > max_array10_header_bytes) {
    return reject(RejectReason::too_large, "the header has " + std::to_string(parts[0].size()) +
                                               " bytes; at most " + std::to_string(max_array10_header_bytes) +
                                               " are read");
  }
  Array10Header header;
  std::string fault;
  const auto keys = parts.size() == 1 ? array10_key_count : array10_frame_keys;
  if (!read_array10_header(reader_, text_of(parts[0]), keys, header, fault)) {
    return reject(RejectReason::not_json, "the header is not JSON: " + fault);
  }
  if (!header.is_object) return reject(RejectReason::bad_header, "the header is JSON, but not an object");
  if (!header.fault_of(Array10Key::htype).empty()) {
    return reject(RejectReason::bad_header, header.fault_of(Array10Key::htype));
  }
  if (!header.htype_known) {
    return reject(RejectReason::unknown_message,
                  "htype \"" + header.htype + "\"; this format reads \"array-1...\" or no htype");
  }
  return parts.size() == 1 ? decode_end(header) : decode_frame(header, parts[1], expected_);
}

}  // namespace pixhist
