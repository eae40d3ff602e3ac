#include <algorithm>

#include "proto/ingest/sls_encoder.hpp"
#include "tools/player/header_edit.hpp"
#include "tools/player/wire_encoder.hpp"

namespace pixhist {

namespace {

constexpr std::size_t huge_header_bytes = 70'000;
// Receivers escape nothing, so that a file name can make a header that is not JSON.
constexpr std::string_view bad_fname = "/tmp/a\"b\\c";

class SlsWire final : public WireEncoder {
 public:
  explicit SlsWire(SlsWireSettings settings) : settings_(std::move(settings)) {
    std::sort(settings_.additional.begin(), settings_.additional.end());
  }

  void header(const WireFrame& frame, FrameFault fault, std::string& header) override {
    auto out = common();
    if (fault == FrameFault::wrong_shape) ++out.shape.rows;
    if (fault == FrameFault::wrong_type) out.bitmode = settings_.bits == 32 ? 16 : 32;
    if (fault == FrameFault::bad_header) out.fname = bad_fname;
    out.file_index = file_index(frame.run);
    out.frame_number = frame.number;
    out.frame_index = frame.number - frame.first;
    const auto asked = static_cast<double>(settings_.frames.value_or(1'000'000'000));
    out.progress = 100 * static_cast<double>(out.frame_index + 1) / asked;
    out.complete_image = frame.complete;
    const auto packets = packets_of_frame();
    out.packet_number = frame.complete ? packets : packets - std::max(packets / 4, 1U);
    encode_sls_header(out, header);
    if (settings_.json_version == 4) remove_key(header, "rx_roi");
    if (fault == FrameFault::missing_key) remove_key(header, "frameNumber");
    if (fault == FrameFault::wrong_kind) replace_value(header, "frameNumber", R"("one")");
    if (fault == FrameFault::huge_header) pad_header(header, huge_header_bytes);
  }

  std::string end_mark(std::uint64_t, std::uint64_t) override {
    auto text = settings_.filled_end ? encode_sls_end(common()) : encode_sls_end();
    if (settings_.json_version == 4) {
      replace_value(text, "jsonversion", "4");
      remove_key(text, "rx_roi");
    }
    return text;
  }

  // A frame behind an end marker that does not go on where its acquisition was is of a new one.
  std::optional<std::string_view> run_key(const WireFrame& frame) override {
    const auto index = frame.number - frame.first;
    const bool goes_on = named_ && frame.run == run_ && frame.first == first_ && index > index_;
    if (ended_ && !goes_on) ++repetition_;
    if (!named_ || !goes_on) {
      key_ = settings_.fname + '\n' + std::to_string(file_index(frame.run)) + '\n' +
             std::to_string(frame.first) + '\n' + std::to_string(repetition_);
    }
    named_ = true;
    ended_ = false;
    run_ = frame.run;
    first_ = frame.first;
    index_ = index;
    return key_;
  }

  WireEnd read_end(std::uint64_t, std::uint64_t) override {
    ended_ = true;
    return {};
  }

 private:
  SlsFrame common() const {
    SlsFrame out;
    out.json_version = settings_.json_version;
    out.bitmode = settings_.bits;
    out.detshape = settings_.detector;
    out.shape = settings_.shape;
    out.fname = settings_.fname;
    out.mod_id = settings_.place.mod_id;
    out.row = settings_.place.row;
    out.column = settings_.place.column;
    out.det_type = settings_.det_type;
    out.flip_rows = settings_.place.flip_rows;
    out.additional = settings_.additional;
    return out;
  }

  std::uint64_t file_index(std::uint64_t run) const {
    return settings_.file_index + (settings_.file_index_goes_on ? run : 0);
  }

  std::uint32_t packets_of_frame() const {
    const auto bytes = settings_.shape.pixels() * settings_.bits / 8;
    return static_cast<std::uint32_t>((bytes + settings_.packet_bytes - 1) / settings_.packet_bytes);
  }

  SlsWireSettings settings_;
  // What tells a receiver that an acquisition is another one.
  std::string key_;
  bool named_ = false, ended_ = false;
  std::uint64_t run_ = 0, first_ = 0, index_ = 0, repetition_ = 0;
};

}  // namespace

std::unique_ptr<WireEncoder> make_sls_wire(SlsWireSettings settings) {
  return std::make_unique<SlsWire>(std::move(settings));
}

}  // namespace pixhist
