#include "core/ring/record.hpp"

#include <bit>

namespace pixhist {
namespace {

/// Finalizer of splitmix64: every input bit changes about half of the output bits.
constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

}  // namespace

void RunKeyBuilder::add(std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    a_ = (a_ ^ byte) * 0x100000001B3ULL;
    b_ = std::rotl(b_ + byte + 1, 23) * 0xD6E8FEB86659FD93ULL;
  }
  bytes_ += text.size();
}

void RunKeyBuilder::add(std::uint64_t number) {
  std::array<char, 8> bytes{};
  for (auto& byte : bytes) {
    byte = static_cast<char>(number & 0xFF);
    number >>= 8;
  }
  add(std::string_view(bytes.data(), bytes.size()));
}

RunKey RunKeyBuilder::key() const {
  RunKey key{{mix(a_), mix(b_ + bytes_)}};
  if (!key.present()) key.hash[0] = 1;  // all zero means: no key
  return key;
}

RunKey make_run_key(std::string_view text) {
  RunKeyBuilder builder;
  builder.add(text);
  return builder.key();
}

}  // namespace pixhist
