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

RunKey make_run_key(std::string_view text) {
  std::uint64_t a = 0xCBF29CE484222325ULL;  // FNV-1a
  std::uint64_t b = 0x9E3779B97F4A7C15ULL;  // add, rotate, multiply
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    a = (a ^ byte) * 0x100000001B3ULL;
    b = std::rotl(b + byte + 1, 23) * 0xD6E8FEB86659FD93ULL;
  }
  RunKey key{{mix(a), mix(b + text.size())}};
  if (!key.present()) key.hash[0] = 1;  // all zero means: no key
  return key;
}

}  // namespace pixhist
