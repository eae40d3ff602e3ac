#pragma once
// What is known of a detector that slsDetector runs: its image, and the ports (UDP interfaces, each with a
// socket of its own) that a module has and where they lie. Design: an EIGER module is two half modules of two
// ports, the lower one upside down and with its ports swapped.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/model/geometry.hpp"
#include "core/model/pixel_type.hpp"

namespace pixhist {

struct ModuleGrid {
  std::uint32_t rows = 1;
  std::uint32_t columns = 1;
  std::uint32_t modules() const { return rows * columns; }
};

struct DetectorKind {
  std::string_view name;
  FrameShape port;  // of one port, of a module with one interface
  PixelType pixel_type;
  std::uint8_t sls_type;       // detType
  std::uint32_t packet_bytes;  // pixels in a UDP packet
  bool half_modules;
  bool two_interfaces;  // can be read through two, half the rows each
};

/// jungfrau, moench, eiger; nothing for another name.
std::optional<DetectorKind> find_detector(std::string_view name);

/// One port's place, in ports of the whole detector.
struct PortPlace {
  std::uint16_t row = 0;
  std::uint16_t column = 0;
  bool flip_rows = false;
  std::uint16_t mod_id = 1234;  // as the package's virtual detectors give it; no key for anything
  friend bool operator==(const PortPlace&, const PortPlace&) = default;
};

struct PortPlan {
  FrameShape detector;           // in ports
  std::vector<PortPlace> ports;  // in the order of their port numbers
};

/// Modules go down the first column of the grid, then the next. `interfaces`: 1 or 2, of a whole module.
PortPlan plan_ports(ModuleGrid grid, std::uint32_t interfaces);
/// The same for detectors made of half modules.
PortPlan plan_half_module_ports(ModuleGrid grid);

}  // namespace pixhist
