#include "tools/player/module_plan.hpp"

#include <charconv>
#include <stdexcept>

namespace pixhist {

namespace {

constexpr std::uint32_t most_modules = 4096;

bool read_whole(std::string_view text, std::uint32_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && !text.empty();
}

std::vector<std::string> counted_up(const std::string& first, std::size_t count) {
  const auto colon = first.rfind(':');
  const auto port_text =
      std::string_view(first).substr(colon == std::string::npos ? first.size() : colon + 1);
  if (port_text == "*") return std::vector<std::string>(count, first);
  std::uint32_t port = 0;
  if (!first.starts_with("tcp://") || !read_whole(port_text, port)) {
    throw std::invalid_argument("endpoint '" + first + "' for " + std::to_string(count) +
                                " sockets has no port to count up; give tcp://HOST:PORT or as many endpoints "
                                "as sockets, with commas between them");
  }
  if (port + count - 1 > 65535) {
    throw std::invalid_argument("endpoint '" + first + "' for " + std::to_string(count) +
                                " sockets: the last port would pass 65535");
  }
  std::vector<std::string> endpoints;
  for (std::size_t i = 0; i < count; ++i) {
    endpoints.push_back(first.substr(0, colon + 1) + std::to_string(port + i));
  }
  return endpoints;
}

}  // namespace

ModuleGrid parse_grid(std::string_view text) {
  ModuleGrid grid;
  const auto x = text.find('x');
  const bool two = x != std::string_view::npos && read_whole(text.substr(0, x), grid.rows) &&
                   read_whole(text.substr(x + 1), grid.columns);
  const auto modules = std::uint64_t{grid.rows} * grid.columns;
  if (!two || modules == 0 || modules > most_modules) {
    throw std::invalid_argument("'" + std::string(text) +
                                "' is not rows by columns of modules; allowed: RxC such as 2x4, 1 to " +
                                std::to_string(most_modules) + " modules");
  }
  return grid;
}

std::vector<std::string> endpoints_for(const std::vector<std::string>& given, std::size_t count) {
  if (given.size() == count) return given;
  if (given.size() == 1) return counted_up(given.front(), count);
  throw std::invalid_argument(std::to_string(given.size()) + " endpoints for " + std::to_string(count) +
                              " sockets; allowed: one, whose port counts up, or as many as sockets");
}

std::vector<PlayerSettings> plan_modules(const PlayerSettings& common, const PortPlan& plan,
                                         std::uint32_t sockets) {
  if (sockets == 0) throw std::invalid_argument("0 sockets for a module; allowed: 1 or more");
  const auto endpoints = endpoints_for(common.endpoints, plan.ports.size() * sockets);
  auto endpoint = endpoints.begin();
  std::vector<PlayerSettings> modules;
  for (const auto& place : plan.ports) {
    auto module = common;
    module.row = place.row;
    module.column = place.column;
    if (module.sls) {
      module.sls->place = place;
      module.sls->detector = plan.detector;
    }
    module.seed = common.seed + modules.size();
    module.images.bytes = common.images.bytes / plan.ports.size();
    module.endpoints.assign(endpoint, endpoint + sockets);
    endpoint += sockets;
    modules.push_back(std::move(module));
  }
  return modules;
}

}  // namespace pixhist
