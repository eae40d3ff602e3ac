#include "proto/ingest/array10_encoder.hpp"

#include <array>
#include <charconv>

#include "proto/ingest/numpy_type.hpp"
#include "proto/json.hpp"

namespace pixhist {
namespace {

void append_number(std::string& out, std::uint64_t number) {
  std::array<char, 20> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

bool needs_no_escape(std::string_view text) {
  for (const char c : text) {
    if (c < 0x20 || c > 0x7E || c == '"' || c == '\\') return false;
  }
  return true;
}

void append_string(std::string& out, std::string_view text) {
  if (needs_no_escape(text)) {
    out += '"';
    out += text;
    out += '"';
    return;
  }
  out += dump_json(nlohmann::json(text));
}

}  // namespace

void encode_array10_header(const Array10Frame& frame, std::string& header) {
  header = R"({"htype":"array-1.0","shape":[)";
  append_number(header, frame.shape.rows);
  header += ',';
  append_number(header, frame.shape.cols);
  header += R"(],"type":")";
  header += numpy_name(frame.pixel_type);
  header += '"';
  if (frame.number) {
    header += R"(,"frame":)";
    append_number(header, *frame.number);
  }
  if (frame.run) {
    header += R"(,"run":)";
    append_string(header, *frame.run);
  }
  header += '}';
}

std::string encode_array10_end(std::optional<std::string_view> run, std::optional<std::uint64_t> frames) {
  std::string message = R"({"htype":"array-1.0","end":true)";
  if (run) {
    message += R"(,"run":)";
    append_string(message, *run);
  }
  if (frames) {
    message += R"(,"frames":)";
    append_number(message, *frames);
  }
  message += '}';
  return message;
}

}  // namespace pixhist
