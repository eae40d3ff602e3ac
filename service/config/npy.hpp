#pragma once
// The header of a NumPy .npy file, versions 1 to 3, read strictly: what numpy.save writes and nothing else.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace pixhist {

struct NpyHeader {
  std::string descr;  // "|u1"
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
  std::size_t data_offset = 0;  // of the first element, from the start of the file
};

/// Bytes of a file that are enough to read any header that is accepted.
inline constexpr std::size_t max_npy_header_bytes = 16 * 1024;

/// The header at the start of `bytes` (the file or its first max_npy_header_bytes), or what is wrong with it.
/// Never throws for any bytes.
std::variant<NpyHeader, std::string> read_npy_header(std::string_view bytes);

}  // namespace pixhist
