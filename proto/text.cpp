#include "proto/text.hpp"

namespace pixhist {

std::string printable(std::string_view text, std::size_t max_bytes) {
  constexpr std::string_view hex = "0123456789abcdef";
  constexpr std::string_view ellipsis = "...";
  std::string out;
  out.reserve(text.size() < max_bytes ? text.size() : max_bytes);
  std::size_t cut = 0;  // length of `out` to which "..." still fits
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7F) {
      out += c;
    } else {
      out += "\\x";
      out += hex[byte >> 4];
      out += hex[byte & 0xF];
    }
    if (out.size() > max_bytes) {
      out.resize(cut);
      out += ellipsis;
      return out;
    }
    if (out.size() + ellipsis.size() <= max_bytes) cut = out.size();
  }
  return out;
}

std::string json_fault(std::string_view what) {
  if (what.starts_with('[')) {
    const auto end = what.find("] ");
    if (end != std::string_view::npos) what.remove_prefix(end + 2);
  }
  return printable(what, 180);
}

}  // namespace pixhist
