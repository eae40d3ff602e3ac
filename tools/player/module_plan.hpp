#pragma once
// From one command to many modules: which sends where, and what each is made with.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/player/player.hpp"

namespace pixhist {

/// Reads `RxC`, rows by columns, 1 to 4096 modules. Throws std::invalid_argument.
ModuleGrid parse_grid(std::string_view text);

/// `count` endpoints: those given if they are so many; if one is given, it and its successors: a tcp port
/// counts up, a port * stays. Throws std::invalid_argument.
std::vector<std::string> endpoints_for(const std::vector<std::string>& given, std::size_t count);

/// One Player for each port of the plan, in its order. Each has its place, its share of the image memory,
/// `sockets` endpoints in turn, and the seed of `common` plus its place in that order.
std::vector<PlayerSettings> plan_modules(const PlayerSettings& common, const PortPlan& plan,
                                         std::uint32_t sockets);

}  // namespace pixhist
