#include "service/config/mask_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "proto/text.hpp"
#include "service/config/npy.hpp"

namespace pixhist {
namespace {

constexpr std::size_t shown_descr_bytes = 40;

std::string tuple(const std::vector<std::uint64_t>& shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

/// Empty if a mask of this shape lies in a file of `file_bytes`.
std::string fault_of(const NpyHeader& header, FrameShape shape, std::uint64_t file_bytes) {
  if (header.descr != "|b1" && header.descr != "|u1")
    return "its dtype is '" + printable(header.descr, shown_descr_bytes) +
           "'; allowed: bool ('|b1') or uint8 ('|u1'). Write it with mask.astype(bool)";
  if (header.fortran_order)
    return "it is in Fortran order; allowed: C order. Write it with numpy.ascontiguousarray(mask)";
  const std::vector<std::uint64_t> needed{shape.rows, shape.cols};
  if (header.shape != needed)
    return "its shape is " + tuple(header.shape) + "; allowed: " + tuple(needed) +
           ", the (rows, cols) of one frame of this source as it is sent";
  if (file_bytes != header.data_offset + shape.pixels())
    return "it has " + std::to_string(file_bytes) + " bytes; its header and " + tuple(needed) +
           " pixels are " + std::to_string(header.data_offset + shape.pixels()) +
           ". It is torn, or something was added to it";
  return {};
}

}  // namespace

std::variant<std::vector<std::uint8_t>, std::string> read_mask_file(const std::string& path,
                                                                    FrameShape shape) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))  // a pipe would hold us up for ever
    return "the file cannot be read: " + (error ? error.message() : "it is no regular file");
  const std::uint64_t file_bytes = std::filesystem::file_size(path, error);
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (error || !file)
    return "the file cannot be read: " + (error ? error.message() : std::string(std::strerror(errno)));
  std::string head(max_npy_header_bytes, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  auto read = read_npy_header(head);
  if (const auto* fault = std::get_if<std::string>(&read)) return *fault;
  const auto& header = std::get<NpyHeader>(read);
  if (auto fault = fault_of(header, shape, file_bytes); !fault.empty()) return fault;

  std::vector<std::uint8_t> mask(shape.pixels());
  file.clear();
  file.seekg(static_cast<std::streamoff>(header.data_offset));
  file.read(reinterpret_cast<char*>(mask.data()), static_cast<std::streamsize>(mask.size()));
  if (!file) return "the file cannot be read: it ended early";
  for (auto& pixel : mask) pixel = pixel != 0 ? 1 : 0;
  return mask;
}

}  // namespace pixhist
