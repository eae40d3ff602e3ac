#pragma once
// From one command to many modules: which sends where, and what each is made with.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/player/player.hpp"

namespace pixhist {

struct ModuleGrid {
  std::uint32_t rows = 1;
  std::uint32_t columns = 1;
  std::uint32_t modules() const { return rows * columns; }
};

/// Reads `RxC`, rows by columns, 1 to 4096 modules. Throws std::invalid_argument.
ModuleGrid parse_grid(std::string_view text);

/// `count` endpoints: those given if they are so many; if one is given, it and its successors: a tcp port
/// counts up, a port * stays. Throws std::invalid_argument.
std::vector<std::string> endpoints_for(const std::vector<std::string>& given, std::size_t count);

/// One Player for each module of the grid: module m is at row m mod rows, column m / rows (the order in which
/// slsDetector places modules), has seed + m, its share of the image memory and `sockets` endpoints in turn.
std::vector<PlayerSettings> plan_modules(const PlayerSettings& common, ModuleGrid grid,
                                         std::uint32_t sockets);

}  // namespace pixhist
