#pragma once
// What the tests of the format sls share: a good header as a table of keys, to be changed key by key.

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "proto/ingest/sls_decoder.hpp"
#include "tests/proto/support.hpp"

namespace pixhist::test {

inline constexpr ExpectedFrame sls_expected{{2, 3}, PixelType::u16};
inline const std::vector<std::byte> sls_pixels(12);

class SlsText {
 public:
  /// `value` as it stands in the header; "" takes the key out.
  SlsText& set(const std::string& key, const std::string& value) {
    for (auto& entry : entries_) {
      if (entry.first == key) {
        entry.second = value;
        return *this;
      }
    }
    entries_.emplace_back(key, value);
    return *this;
  }

  std::string str() const {
    std::string out;
    for (const auto& [key, value] : entries_) {
      if (!value.empty()) out += (out.empty() ? "{\"" : ", \"") + key + "\":" + value;
    }
    return out + "}\n";
  }

 private:
  std::vector<std::pair<std::string, std::string>> entries_{
      {"jsonversion", "5"},    {"bitmode", "16"},       {"fileIndex", "3"},   {"detshape", "[1, 1]"},
      {"shape", "[3, 2]"},     {"size", "12"},          {"acqIndex", "4242"}, {"frameIndex", "41"},
      {"progress", "33.3"},    {"fname", "\"/a\""},     {"data", "1"},        {"completeImage", "1"},
      {"frameNumber", "4242"}, {"packetNumber", "128"}, {"row", "0"},         {"column", "0"},
      {"detType", "3"},        {"flipRows", "0"},       {"quad", "0"},        {"rx_roi", "[0, 2, 0, 1]"}};
};

/// A good header but for one key.
inline std::string sls_with(const std::string& key, const std::string& value) {
  return SlsText().set(key, value).str();
}

inline DecodedMessage decode_sls(SlsDecoder& decoder, std::string_view header,
                                 std::span<const std::byte> pixels = sls_pixels) {
  const MessagePart parts[] = {bytes_of(header), pixels};
  return decoder.decode(parts);
}

inline DecodedMessage decode_sls(std::string_view header, const ExpectedFrame& expected = sls_expected,
                                 std::span<const std::byte> pixels = sls_pixels) {
  SlsDecoder decoder(expected);
  return decode_sls(decoder, header, pixels);
}

inline DecodedMessage decode_sls_one(SlsDecoder& decoder, std::string_view header) {
  const MessagePart parts[] = {bytes_of(header)};
  return decoder.decode(parts);
}

/// The message must be a frame; anything else fails the test with the rejection's text.
inline FrameMessage sls_frame(const DecodedMessage& message) {
  if (const auto* rejection = std::get_if<Rejection>(&message)) FAIL(rejection->message);
  REQUIRE(std::holds_alternative<FrameMessage>(message));
  return std::get<FrameMessage>(message);
}

}  // namespace pixhist::test
