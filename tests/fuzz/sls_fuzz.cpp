#include <array>

#include "proto/ingest/sls_decoder.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace pixhist;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr ExpectedFrame expected{{2, 3}, PixelType::u16};
  constexpr std::array<std::byte, 12> pixels{};
  SlsDecoder decoder(expected);
  fuzz::decode_all(decoder, fuzz::bytes_of(data, size), expected, pixels);
  return 0;
}
