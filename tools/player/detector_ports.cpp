#include "tools/player/detector_ports.hpp"

#include <array>

#include "proto/ingest/sls_encoder.hpp"

namespace pixhist {

namespace {

constexpr std::array<DetectorKind, 3> kinds{{
    {"jungfrau", {512, 1024}, PixelType::u16, sls_det_type::jungfrau, 8192, false, true},
    {"moench", {400, 400}, PixelType::u16, sls_det_type::moench, 6400, false, true},
    {"eiger", {256, 512}, PixelType::u16, sls_det_type::eiger, 4096, true, false},
}};
constexpr std::uint16_t first_half_module_id = 31;

std::uint16_t narrow(std::uint32_t value) { return static_cast<std::uint16_t>(value); }

}  // namespace

std::optional<DetectorKind> find_detector(std::string_view name) {
  for (const auto& kind : kinds) {
    if (kind.name == name) return kind;
  }
  return std::nullopt;
}

PortPlan plan_ports(ModuleGrid grid, std::uint32_t interfaces) {
  PortPlan plan{{grid.rows * interfaces, grid.columns}, {}};
  for (std::uint32_t m = 0; m < grid.modules(); ++m) {
    for (std::uint32_t i = 0; i < interfaces; ++i) {
      PortPlace place;
      place.row = narrow(m % grid.rows * interfaces + i);
      place.column = narrow(m / grid.rows);
      plan.ports.push_back(place);
    }
  }
  return plan;
}

PortPlan plan_half_module_ports(ModuleGrid grid) {
  PortPlan plan{{grid.rows * 2, grid.columns * 2}, {}};
  for (std::uint32_t half = 0; half < 2 * grid.modules(); ++half) {
    const bool lower = half % 2 == 1;
    for (std::uint32_t i = 0; i < 2; ++i) {
      PortPlace place;
      place.row = narrow(half % (2 * grid.rows));
      place.column = narrow(half / (2 * grid.rows) * 2 + (lower ? 1 - i : i));
      place.flip_rows = lower;
      place.mod_id = narrow(first_half_module_id + i);
      plan.ports.push_back(place);
    }
  }
  return plan;
}

}  // namespace pixhist
