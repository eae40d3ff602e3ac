#include "service/config/npy.hpp"

#include <charconv>
#include <optional>
#include <utility>

namespace pixhist {
namespace {

constexpr std::string_view magic("\x93NUMPY", 6);
constexpr std::size_t max_dimensions = 8;

/// A Python dict literal of the three keys, as numpy.save writes it: {'descr': '|u1', 'fortran_order': False,
/// 'shape': (2, 3), }. Each key once, in any order.
class DictParser {
 public:
  DictParser(std::string_view text, NpyHeader& header) : rest_(text), header_(header) {}

  /// Empty if all is well.
  std::string parse() {
    if (!take('{')) return "it does not begin with {";
    while (!take('}')) {
      const auto key = quoted();
      if (!key || !take(':')) return "a key in quotes and a colon are needed";
      if (auto fault = value_of(*key); !fault.empty()) return fault;
      if (take(',')) continue;
      if (!take('}')) return "a comma or } is needed behind the value of " + std::string(*key);
      break;
    }
    skip_space();
    if (!rest_.empty()) return "something stands behind the closing }";
    if (!has_descr_ || !has_order_ || !has_shape_) return "descr, fortran_order and shape are all needed";
    return {};
  }

 private:
  std::string value_of(std::string_view key) {
    if (key == "descr") return once(has_descr_, descr() ? "" : "descr must be a type name in quotes");
    if (key == "fortran_order") return once(has_order_, order() ? "" : "fortran_order must be True or False");
    if (key == "shape")
      return once(has_shape_, shape() ? "" : "shape must be a tuple of at most 8 whole numbers");
    return "only the keys descr, fortran_order and shape are allowed";
  }

  static std::string once(bool& seen, std::string fault) {
    if (std::exchange(seen, true)) return "a key stands twice";
    return fault;
  }

  bool descr() {
    const auto text = quoted();
    if (text) header_.descr = *text;
    return text.has_value();
  }

  bool order() {
    header_.fortran_order = word("True");
    return header_.fortran_order || word("False");
  }

  /// (), (2,), (2, 3) and (2, 3,), but not (2): that is no tuple.
  bool shape() {
    if (!take('(')) return false;
    bool comma = true;
    while (!take(')')) {
      std::uint64_t n = 0;
      skip_space();
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), n);
      if (!comma || error != std::errc{} || header_.shape.size() == max_dimensions) return false;
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      header_.shape.push_back(n);
      comma = take(',');
    }
    return comma || header_.shape.size() != 1;
  }

  void skip_space() {
    const auto at = rest_.find_first_not_of(" \n");
    rest_.remove_prefix(at == std::string_view::npos ? rest_.size() : at);
  }
  bool take(char c) {
    skip_space();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool word(std::string_view text) {
    skip_space();
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  std::optional<std::string_view> quoted() {
    skip_space();
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) return std::nullopt;
    const auto end = rest_.find(rest_[0], 1);
    if (end == std::string_view::npos) return std::nullopt;
    const auto text = rest_.substr(1, end - 1);
    if (text.find('\\') != std::string_view::npos) return std::nullopt;
    rest_.remove_prefix(end + 1);
    return text;
  }

  std::string_view rest_;
  NpyHeader& header_;
  bool has_descr_ = false;
  bool has_order_ = false;
  bool has_shape_ = false;
};

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

}  // namespace

std::variant<NpyHeader, std::string> read_npy_header(std::string_view bytes) {
  if (!bytes.starts_with(magic)) return "it is no .npy file (numpy.save writes one)";
  constexpr std::size_t version_end = magic.size() + 2;
  if (bytes.size() < version_end) return "it ends within the header";
  const auto version = static_cast<unsigned char>(bytes[magic.size()]);
  if (version < 1 || version > 3 || bytes[magic.size() + 1] != 0)
    return "its .npy version is " + std::to_string(version) + "." +
           std::to_string(static_cast<unsigned char>(bytes[magic.size() + 1])) +
           "; read are 1.0, 2.0 and 3.0";
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  const std::string_view length_field = bytes.substr(version_end, length_bytes);
  const std::uint64_t length = little_endian(length_field);
  const std::size_t text_begin = version_end + length_bytes;
  if (length > max_npy_header_bytes - text_begin)
    return "its header has " + std::to_string(length) + " bytes; at most " +
           std::to_string(max_npy_header_bytes - text_begin) + " are read";
  if (length_field.size() < length_bytes || bytes.size() - text_begin < length)
    return "it ends within the header";
  NpyHeader header;
  header.data_offset = text_begin + length;
  if (auto fault = DictParser(bytes.substr(text_begin, length), header).parse(); !fault.empty())
    return "its header is damaged: " + fault;
  return header;
}

}  // namespace pixhist
