#pragma once
// The pixel mask of a source, read from the file its configuration names.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/model/geometry.hpp"

namespace pixhist {

/// One byte a pixel in wire order, 0 or 1 (masked), of a .npy file of bool or u1 in C order whose shape is
/// (shape.rows, shape.cols); or what is wrong with the file and what is allowed. Takes memory only for a file
/// that is as large as the shape says.
std::variant<std::vector<std::uint8_t>, std::string> read_mask_file(const std::string& path,
                                                                    FrameShape shape);

}  // namespace pixhist
