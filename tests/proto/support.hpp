#pragma once
// What the tests of proto share: bytes of text, the files in vectors/, and a seeded mutator.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace pixhist::test {

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Name of each file in vectors/<folder> -> its bytes.
inline std::map<std::string, std::string> vectors(std::string_view folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(PIXHIST_VECTORS) / folder)) {
    files[entry.path().filename().string()] = read_file(entry.path());
  }
  return files;
}

inline bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
}

/// Damages text the way a broken or hostile sender would. The same seed gives the same texts everywhere.
class Mutator {
 public:
  Mutator(std::uint64_t seed, std::vector<std::string> seeds) : random_(seed), seeds_(std::move(seeds)) {}

  std::string next() {
    std::string text = seeds_[pick(seeds_.size())];
    for (std::size_t n = 1 + pick(4); n > 0; --n) mutate(text);
    return text;
  }

 private:
  /// Not std::uniform_int_distribution: its numbers differ between standard libraries.
  std::size_t pick(std::size_t n) { return static_cast<std::size_t>(random_() % n); }

  void mutate(std::string& text) {
    static constexpr std::array<std::string_view, 24> tokens{"null",
                                                             "true",
                                                             "-1",
                                                             "-0",
                                                             "1.5",
                                                             "1e999",
                                                             "18446744073709551615",
                                                             "18446744073709551616",
                                                             "[",
                                                             "]",
                                                             "{",
                                                             "}",
                                                             "\"",
                                                             "\\u0000",
                                                             "\\ud800",
                                                             "[[[[[[[[",
                                                             "{\"a\":{\"a\":",
                                                             "\xff\xfe",
                                                             "\x1b[31m",
                                                             ":",
                                                             ",",
                                                             "\"shape\":",
                                                             "\"args\":{}",
                                                             "4294967296"};
    const std::size_t at = pick(text.size() + 1);
    switch (pick(7)) {
      case 0: text.insert(at, tokens[pick(tokens.size())]); break;
      case 1: text.erase(at, 1 + pick(8)); break;
      case 2:
        if (at < text.size()) text[at] = static_cast<char>(pick(256));
        break;
      case 3: text.insert(at, text.substr(pick(text.size() + 1), pick(30))); break;
      case 4: text.resize(at); break;
      case 5: replace_number(text, at, tokens[pick(tokens.size())]); break;
      default: replace_value(text, at, tokens[pick(tokens.size())]);
    }
  }

  /// Puts `token` in the place of a JSON value, so that many mutants stay JSON.
  static void replace_value(std::string& text, std::size_t at, std::string_view token) {
    const auto colon = text.find(':', at);
    if (colon == std::string::npos) return;
    const auto end = std::min(text.find_first_of(",}", colon), text.size());
    text.replace(colon + 1, end - colon - 1, token);
  }

  static void replace_number(std::string& text, std::size_t at, std::string_view token) {
    constexpr std::string_view digits = "0123456789";
    const auto begin = text.find_first_of(digits, at);
    if (begin == std::string::npos) return;
    const auto end = std::min(text.find_first_not_of(digits, begin), text.size());
    text.replace(begin, end - begin, token);
  }

  std::mt19937_64 random_;
  const std::vector<std::string> seeds_;
};

}  // namespace pixhist::test
