#pragma once
// pixhistd --probe: listens to one frame of an unknown sender and writes a configuration for it.

#include <chrono>
#include <optional>
#include <string>

#include "proto/ingest/describe_message.hpp"
#include "service/config/config.hpp"

namespace pixhist {

struct ProbeOptions {
  std::string endpoint;
  std::optional<std::string> format{};  // absent: every built one is tried
  SocketKind socket = SocketKind::sub;
  std::chrono::seconds timeout{10};
};

struct ProbeReport {
  bool found = false;
  std::string configuration;  // JSON, ends in a line feed; only if found
  std::string explanation;    // what was seen and chosen, or why nothing was found and what to check; lines
};

/// Connects, and waits for a frame until the time is over; a message that is no frame of any format tried
/// ends it. Throws SocketError if the endpoint cannot be connected to, std::invalid_argument for a format
/// that is unknown or not built. Takes one frame away from the other clients of a PUSH sender.
ProbeReport probe(const ProbeOptions& options);

/// A complete configuration for such frames: the axis covers the type's values, or for wide types and floats
/// those of the frame, in bins of a whole number of values.
std::string probe_configuration(const FrameDescription& frame, const std::string& format,
                                const ProbeOptions& options);

}  // namespace pixhist
