// The reader of headers beside another library: the same texts are taken, and the same events come.

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "proto/ingest/json_reader.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace pixhist;

namespace {

class Ours final : public JsonEvents {
 public:
  void null() override { text += "n "; }
  void boolean(bool value) override { text += value ? "t " : "f "; }
  void number(std::string_view number, std::optional<std::uint64_t> whole) override {
    text += (whole ? std::to_string(*whole) : std::string(number)) + ' ';
  }
  void string(std::string_view value) override { text += '"' + std::string(value) + "\" "; }
  void key(std::string_view name) override { text += std::string(name) + ": "; }
  void begin_object() override { text += "{ "; }
  void end_object() override { text += "} "; }
  void begin_array() override { text += "[ "; }
  void end_array() override { text += "] "; }
  std::string text;
};

class Theirs {
 public:
  using Json = nlohmann::json;
  bool null() { return add("n "); }
  bool boolean(bool value) { return add(value ? "t " : "f "); }
  bool number_integer(Json::number_integer_t value) { return add(std::to_string(value) + ' '); }
  bool number_unsigned(Json::number_unsigned_t value) { return add(std::to_string(value) + ' '); }
  bool number_float(Json::number_float_t, const std::string& number) { return add(number + ' '); }
  bool string(const std::string& value) { return add('"' + value + "\" "); }
  bool binary(Json::binary_t&) { return false; }
  bool start_object(std::size_t) { return add("{ "); }
  bool end_object() { return add("} "); }
  bool start_array(std::size_t) { return add("[ "); }
  bool end_array() { return add("] "); }
  bool key(const std::string& name) { return add(name + ": "); }
  bool parse_error(std::size_t, const std::string&, const Json::exception& error) {
    constexpr int number_overflow = 406;
    beyond_double = error.id == number_overflow;
    return false;
  }
  std::string text;
  bool beyond_double = false;

 private:
  bool add(const std::string& event) {
    text += event;
    return true;
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t max_bytes = 4096;
  const std::string_view text(reinterpret_cast<const char*>(data), std::min(size, max_bytes));
  JsonReader reader(max_bytes);
  Ours ours;
  std::string fault;
  const bool read = reader.read(text, ours, fault);
  if (!read) fuzz::require_presentable(fault, 180);
  Theirs theirs;
  // The other library takes a zero byte for the end.
  const bool accepted = text.find('\0') == std::string_view::npos &&
                        nlohmann::json::sax_parse(text.begin(), text.end(), &theirs);
  // Between the largest double and 10^309 ours is the more generous.
  fuzz::require(read == accepted || (read && theirs.beyond_double), "the same texts are JSON");
  fuzz::require(!accepted || ours.text == theirs.text, "the same events");
  return 0;
}
