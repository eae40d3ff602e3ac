#include "proto/ingest/sls_encoder.hpp"

#include <charconv>
#include <concepts>

namespace pixhist {
namespace {

/// Appends to a header; every value is preceded by its key as the receiver writes it.
class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}

  void text(std::string_view text) { out_ += text; }

  void number(std::string_view key, std::integral auto value) {
    out_ += key;
    append(value);
  }

  void pair(std::string_view key, FrameShape shape) {
    number(key, shape.cols);
    number(", ", shape.rows);
    out_ += ']';
  }

  /// As printf's %g.
  void real(std::string_view key, double value) {
    constexpr int significant_digits = 6;
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                   std::chars_format::general, significant_digits)
                         .ptr;
    out_ += key;
    out_.append(digits.data(), end);
  }

 private:
  void append(std::integral auto value) {
    std::array<char, 20> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    out_.append(digits.data(), end);
  }

  std::string& out_;
};

void write_additional(const SlsFrame& frame, Writer& out) {
  if (frame.additional.empty()) return;
  std::string_view before = R"(, "addJsonHeader": {")";
  for (const auto& [key, value] : frame.additional) {
    out.text(before);
    out.text(key);
    out.text(R"(":")");
    out.text(value);
    out.text("\"");
    before = R"(, ")";
  }
  out.text(" } ");
}

void write_roi(const SlsFrame& frame, Writer& out) {
  const auto last = [](std::uint32_t extent) { return static_cast<std::int32_t>(extent) - 1; };
  const auto roi = frame.rx_roi.value_or(
      std::array<std::int32_t, 4>{0, last(frame.shape.cols), 0, last(frame.shape.rows)});
  std::string_view before = R"(, "rx_roi":[)";
  for (const auto edge : roi) {
    out.number(before, edge);
    before = ", ";
  }
}

void write_header(const SlsFrame& frame, int data, std::string& header) {
  header.clear();
  Writer out(header);
  out.number(R"({"jsonversion":)", frame.json_version);
  out.number(R"(, "bitmode":)", frame.bitmode);
  out.number(R"(, "fileIndex":)", frame.file_index);
  out.pair(R"(, "detshape":[)", frame.detshape);
  out.pair(R"(, "shape":[)", frame.shape);
  out.number(R"(, "size":)", frame.size.value_or(frame.shape.pixels() * frame.bitmode / 8));
  out.number(R"(, "acqIndex":)", frame.frame_number);
  out.number(R"(, "frameIndex":)", frame.frame_index);
  out.real(R"(, "progress":)", frame.progress);
  out.text(R"(, "fname":")");
  out.text(frame.fname);
  out.number(R"(", "data":)", data);
  out.number(R"(, "completeImage":)", frame.complete_image ? 1 : 0);
  out.number(R"(, "frameNumber":)", frame.frame_number);
  out.number(R"(, "expLength":0, "packetNumber":)", frame.packet_number);
  out.number(R"(, "detSpec1":0, "timestamp":)", frame.timestamp);
  out.number(R"(, "modId":)", frame.mod_id);
  out.number(R"(, "row":)", frame.row);
  out.number(R"(, "column":)", frame.column);
  out.number(R"(, "detSpec2":0, "detSpec3":0, "detSpec4":0, "detType":)", unsigned{frame.det_type});
  out.number(R"(, "version":)", unsigned{frame.version});
  out.number(R"(, "flipRows":)", frame.flip_rows ? 1 : 0);
  out.number(R"(, "quad":)", frame.quad ? 1 : 0);
  write_additional(frame, out);
  write_roi(frame, out);
  out.text("]}\n");
}

}  // namespace

void encode_sls_header(const SlsFrame& frame, std::string& header) { write_header(frame, 1, header); }

std::string encode_sls_end() {
  SlsFrame zero;
  zero.bitmode = 0;
  zero.detshape = {};
  zero.complete_image = false;
  zero.det_type = 0;
  zero.version = 0;
  zero.rx_roi.emplace();
  return encode_sls_end(zero);
}

std::string encode_sls_end(const SlsFrame& settings) {
  std::string message;
  write_header(settings, 0, message);
  return message;
}

}  // namespace pixhist
