#include "tools/player/header_edit.hpp"

#include <stdexcept>

namespace pixhist {

namespace {

struct Extent {
  std::size_t key;    // of the key's opening quote
  std::size_t value;  // of the value's first byte
  std::size_t end;    // behind its last byte
};

std::size_t end_of_value(std::string_view header, std::size_t at) {
  if (header[at] == '"') return header.find('"', at + 1) + 1;
  if (header[at] == '[') return header.find(']', at) + 1;
  return header.find_first_of(",}", at);
}

Extent find(std::string_view header, std::string_view key) {
  const std::string quoted = '"' + std::string(key) + "\":";
  const auto at = header.find(quoted);
  if (at == std::string_view::npos) throw std::logic_error("no key " + quoted + " in " + std::string(header));
  const auto value = header.find_first_not_of(' ', at + quoted.size());
  return {at, value, end_of_value(header, value)};
}

}  // namespace

void replace_value(std::string& header, std::string_view key, std::string_view value) {
  const auto at = find(header, key);
  header.replace(at.value, at.end - at.value, value);
}

void remove_key(std::string& header, std::string_view key) {
  const auto at = find(header, key);
  const auto next = header.find_first_not_of(", ", at.end);
  const bool last = header[next] == '}';
  const auto begin = last ? header.rfind(',', at.key) : at.key;
  header.erase(begin, next - begin);
}

void pad_header(std::string& header, std::size_t bytes) {
  if (header.size() < bytes) header.insert(1, bytes - header.size(), ' ');
}

}  // namespace pixhist
