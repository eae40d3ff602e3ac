#include "core/memory/streaming_copy.hpp"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace pixhist {
namespace {

#ifdef __SSE2__
constexpr std::size_t line = 64;
/// How far ahead what is to be read is asked for: the body lies in the cache of the core that received it,
/// and without this the copy waits for every few lines of it.
constexpr std::size_t ahead = std::size_t{3} << 10;

/// Copies whole cache lines and returns their bytes; less than a line is left.
std::size_t stream_lines(std::span<const std::byte> from, std::byte* to) {
  const std::size_t bytes = from.size() / line * line;
  for (std::size_t at = 0; at < bytes; at += line) {
    _mm_prefetch(reinterpret_cast<const char*>(from.data() + std::min(at + ahead, bytes - line)),
                 _MM_HINT_T0);
    const auto* source = reinterpret_cast<const __m128i*>(from.data() + at);
    auto* target = reinterpret_cast<__m128i*>(to + at);
    const __m128i a = _mm_loadu_si128(source);
    const __m128i b = _mm_loadu_si128(source + 1);
    const __m128i c = _mm_loadu_si128(source + 2);
    const __m128i d = _mm_loadu_si128(source + 3);
    _mm_stream_si128(target, a);
    _mm_stream_si128(target + 1, b);
    _mm_stream_si128(target + 2, c);
    _mm_stream_si128(target + 3, d);
  }
  _mm_sfence();  // no release store orders streaming stores
  return bytes;
}
#else
std::size_t stream_lines(std::span<const std::byte>, std::byte*) { return 0; }
#endif

}  // namespace

void copy_streaming(std::span<const std::byte> from, std::byte* to) {
  assert(reinterpret_cast<std::uintptr_t>(to) % 16 == 0);
  const std::size_t streamed = stream_lines(from, to);
  if (streamed != from.size()) std::memcpy(to + streamed, from.data() + streamed, from.size() - streamed);
}

}  // namespace pixhist
