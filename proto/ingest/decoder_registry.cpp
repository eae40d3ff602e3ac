#include "proto/ingest/decoder_registry.hpp"

#include <array>
#include <stdexcept>
#include <string>

#include "proto/ingest/array10_decoder.hpp"
#include "proto/ingest/sls_decoder.hpp"
#include "proto/text.hpp"

namespace pixhist {
namespace {

constexpr std::array<WireFormat, 6> formats{{
    {"array10", true, "array-1.0: std_daq, sf-daq, streamvis, areaDetector ADZMQ, pixhist-player"},
    {"sls", true, "slsReceiver of the slsDetectorPackage"},
    {"dectris2", false, "DECTRIS SIMPLON Stream V2 (CBOR), Jungfraujoch"},
    {"dectris1", false, "DECTRIS SIMPLON Stream V1 (JSON multipart)"},
    {"stins", false, "MAX IV streaming-receiver"},
    {"odin", false, "odin-data live view"},
}};

}  // namespace

std::span<const WireFormat> wire_formats() { return formats; }

std::unique_ptr<FrameDecoder> make_decoder(std::string_view format, const ExpectedFrame& expected) {
  if (format == "array10") return std::make_unique<Array10Decoder>(expected);
  if (format == "sls") return std::make_unique<SlsDecoder>(expected);
  std::string allowed;
  bool known = false;
  for (const auto& entry : formats) {
    known = known || entry.name == format;
    if (entry.built) allowed += (allowed.empty() ? "" : ", ") + std::string(entry.name);
  }
  throw std::invalid_argument("format \"" + printable(format, 40) + "\" is " +
                              (known ? "not built yet" : "unknown") + "; allowed: " + allowed);
}

}  // namespace pixhist
