#include "service/probe.hpp"

#include <algorithm>
#include <cmath>
#include <vector>
#include <zmq.hpp>

#include "proto/ingest/decoder_registry.hpp"
#include "proto/ingest/numpy_type.hpp"
#include "proto/json.hpp"
#include "proto/text.hpp"
#include "service/config/config_values.hpp"
#include "service/config/memory_plan.hpp"
#include "service/transport/ingest_socket.hpp"
#include "service/transport/socket_error.hpp"

namespace pixhist {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t max_probed_part_bytes = std::size_t{1} << 32;  // no frame may be larger
constexpr std::uint64_t wanted_count_bytes = std::uint64_t{4} << 30;

struct Axis {
  std::uint32_t bins;
  double min;
  double max;
};

/// The power of two above the frame's values, so that one more frame like it fits; at most what an axis of
/// the type can have at both ends.
double above(double value, PixelType type) {
  constexpr int least = 10;
  const int most = type == PixelType::f64 ? 1022 : 126;
  int exponent = 0;
  std::frexp(std::max(value, 0.0), &exponent);
  return std::ldexp(1.0, std::clamp(exponent, least, most));
}

Axis choose_axis(const FrameDescription& frame) {
  std::uint32_t bins = 1024;
  // Fewer, wider bins where the counts would take too much memory; a power of two still divides the width.
  const auto count_bytes = [&] { return std::uint64_t{frame.frame.shape.pixels()} * (bins + 4) * 4; };
  while (bins > 64 && count_bytes() > wanted_count_bytes) bins /= 2;
  if (frame.adc14) return {bins, 0, 16384};
  switch (frame.frame.pixel_type) {
    case PixelType::u8: return {std::min(bins, 256U), 0, 256};
    case PixelType::u16: return {bins, 0, 65536};
    case PixelType::i16: return {bins, -32768, 32768};
    default: break;
  }
  const PixelType type = frame.frame.pixel_type;
  const double max = above(frame.highest, type);
  return {bins, frame.lowest < 0 ? -above(-frame.lowest, type) : 0, max};
}

/// Not given where the default will do.
std::optional<std::uint64_t> choose_ring_bytes(const FrameDescription& frame) {
  constexpr std::uint64_t frames = 8;
  constexpr std::uint64_t default_bytes = std::uint64_t{1} << 30;
  const std::uint64_t bytes = frames * (frame.frame.bytes() + 4096);
  if (bytes <= default_bytes) return std::nullopt;
  return bytes;
}

std::string pair(FrameShape shape) { return std::to_string(shape.rows) + " x " + std::to_string(shape.cols); }

std::string explain(const FrameDescription& frame, const std::string& format, const ProbeOptions& options) {
  std::string text = "A frame of format " + format + ": " + pair(frame.frame.shape) +
                     " pixels (rows x columns) of " + std::string(numpy_name(frame.frame.pixel_type)) +
                     ", values " + dump_json(Json(frame.lowest)) + " to " + dump_json(Json(frame.highest)) +
                     " in this one.\n";
  if (frame.detector != frame.frame.shape) {
    text +=
        "It is one port of a detector of " + pair(frame.detector) +
        " pixels; each port is a source of its own: probe the others and put their sources into one list, "
        "each with a name of its own.\n";
  }
  if (frame.jungfrau)
    text +=
        "The two gain bits are taken off (axis.map adc); adc_g0, adc_g1 and adc_g2 bin one gain stage "
        "only.\n";
  const Axis axis = choose_axis(frame);
  const auto bytes = std::uint64_t{frame.frame.shape.pixels()} * (axis.bins + 4) * 4;
  text += "The counts of " + std::to_string(axis.bins) + " bins take " + human_bytes(bytes) +
          "; look at axis.min, axis.max and axis.bins before you trust them.\n";
  if (options.socket == SocketKind::pull)
    text += "This frame was taken away from the sender's other clients.\n";
  return text;
}

std::string seconds(std::chrono::seconds time) { return std::to_string(time.count()) + " s"; }

/// Nothing came that is a frame.
std::string explain_silence(const ProbeOptions& options, const SocketEventCounters& events, bool control) {
  const bool sub = options.socket == SocketKind::sub;
  if (control)
    return "Only control messages came from " + options.endpoint + " within " + seconds(options.timeout) +
           ", no frame. Is the detector taking data? --probe-timeout waits longer.\n";
  if (events.handshake_failed.get() > 0)
    return options.endpoint + " answers, but does not speak ZeroMQ without encryption, or not as " +
           (sub ? "PUB. Is the port right? If the sender is a PUSH socket: --probe-socket pull.\n"
                : "PUSH. Is the port right? If the sender is a PUB socket: --probe-socket sub.\n");
  if (events.connected.get() > 0)
    return "Connected to " + options.endpoint + ", but no message came within " + seconds(options.timeout) +
           ". Is the detector taking data, and its stream on (slsReceiver: rx_zmqstream 1)? " +
           (sub ? "Is the sender a PUSH socket? Then: --probe-socket pull. "
                : "Is the sender a PUB socket? Then: --probe-socket sub. ") +
           "--probe-timeout waits longer.\n";
  return "No connection to " + options.endpoint + " within " + seconds(options.timeout) +
         ". Is the sender running, are host and port right, is a firewall between? A sender that connects "
         "cannot be probed: give its source bind true.\n";
}

std::vector<std::string> formats_to_try(const ProbeOptions& options) {
  if (options.format) return {*options.format};
  std::vector<std::string> names;
  for (const auto& format : wire_formats()) {
    if (format.built) names.emplace_back(format.name);
  }
  return names;
}

/// A frame of any format ends the search, and so does a message that is of none; nothing: listen on.
std::optional<ProbeReport> judge(std::span<const MessagePart> parts, const ProbeOptions& options) {
  std::string reasons;
  bool control = false;
  for (const auto& format : formats_to_try(options)) {
    const auto description = describe_message(format, parts);
    if (const auto* frame = std::get_if<FrameDescription>(&description)) {
      return ProbeReport{true, probe_configuration(*frame, format, options),
                         explain(*frame, format, options)};
    }
    if (const auto* unusable = std::get_if<UnusableMessage>(&description))
      reasons += "  as " + format + ": " + unusable->why + "\n";
    else
      control = true;
  }
  if (control) return std::nullopt;
  return ProbeReport{false, "",
                     "A message of " + std::to_string(parts.size()) + " part(s) came from " +
                         options.endpoint + " that cannot be used:\n" + reasons};
}

}  // namespace

std::string probe_configuration(const FrameDescription& frame, const std::string& format,
                                const ProbeOptions& options) {
  const Axis axis = choose_axis(frame);
  Json source = {{"name", "module0"},
                 {"endpoint", options.endpoint},
                 {"socket", name_of(options.socket)},
                 {"format", format}};
  if (frame.detector != frame.frame.shape) source["shape"] = {frame.frame.shape.rows, frame.frame.shape.cols};
  Json config = {{"detector",
                  {{"rows", frame.detector.rows},
                   {"cols", frame.detector.cols},
                   {"pixel_type", name_of(frame.frame.pixel_type)}}},
                 {"axis", {{"bins", axis.bins}, {"min", axis.min}, {"max", axis.max}}}};
  if (frame.jungfrau) config["axis"]["map"] = "adc";
  if (format == "sls" && !frame.adc14) config["axis"]["unit"] = "counts";
  config["sources"] = Json::array({source});
  if (const auto bytes = choose_ring_bytes(frame)) config["ring"] = {{"bytes", *bytes}};
  return dump_json(config, 2) + "\n";
}

ProbeReport probe(const ProbeOptions& options) {
  for (const auto& format : formats_to_try(options)) make_decoder(format, {});  // refuses unknown ones
  if (!endpoint_valid(options.endpoint) || endpoint_only_binds(options.endpoint))
    throw SocketError("given \"" + printable(options.endpoint, 100) +
                      "\"; allowed: tcp://host:port or ipc://path of a sender that binds");
  zmq::context_t context;
  SocketEventCounters events;
  IngestSocketOptions socket_options;
  socket_options.kind = options.socket;
  socket_options.endpoint = options.endpoint;
  socket_options.max_part_bytes = max_probed_part_bytes;
  socket_options.receive_hwm = receive_hwm(0, 1);
  IngestSocket socket(context, socket_options, events);
  const auto deadline = std::chrono::steady_clock::now() + options.timeout;
  bool control = false;
  while (std::chrono::steady_clock::now() < deadline) {
    const auto message = socket.receive();
    if (!message) {
      socket.wait(std::chrono::milliseconds(50));
      continue;
    }
    if (auto result = judge(message->parts, options)) return *std::move(result);
    control = true;
  }
  return {false, "", explain_silence(options, events, control)};
}

}  // namespace pixhist
