#include "proto/ingest/json_reader.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/proto/support.hpp"

using namespace pixhist;

namespace {

/// Writes the events down as a text; of whole numbers text=value, or the value.
class Tape final : public JsonEvents {
 public:
  explicit Tape(bool values_only = false) : values_only_(values_only) {}

  void null() override { text += "null "; }
  void boolean(bool value) override { text += value ? "true " : "false "; }
  void number(std::string_view number, std::optional<std::uint64_t> whole) override {
    if (!whole || !values_only_) text += number;
    if (whole) text += (values_only_ ? "" : "=") + std::to_string(*whole);
    text += ' ';
  }
  void string(std::string_view value) override { text += '"' + std::string(value) + "\" "; }
  void key(std::string_view name) override { text += std::string(name) + ": "; }
  void begin_object() override { text += "{ "; }
  void end_object() override { text += "} "; }
  void begin_array() override { text += "[ "; }
  void end_array() override { text += "] "; }

  std::string text;

 private:
  const bool values_only_;
};

constexpr std::size_t max_bytes = 64 * 1024;

std::string events_of(std::string_view json) {
  Tape tape;
  std::string fault;
  if (!JsonReader(max_bytes).read(json, tape, fault)) FAIL(fault);
  return tape.text;
}

std::string fault_of(std::string_view json, std::size_t limit = max_bytes) {
  Tape tape;
  std::string fault;
  CHECK_FALSE(JsonReader(limit).read(json, tape, fault));
  CHECK(fault.size() <= 180);
  CHECK(test::is_printable(fault));
  return fault;
}

/// The same events from another library: the reference.
class ReferenceTape {
 public:
  using Json = nlohmann::json;
  bool null() { return add("null "); }
  bool boolean(bool value) { return add(value ? "true " : "false "); }
  bool number_integer(Json::number_integer_t value) {
    return add(value == 0 ? "0 " : std::to_string(value) + ' ');
  }
  bool number_unsigned(Json::number_unsigned_t value) { return add(std::to_string(value) + ' '); }
  bool number_float(Json::number_float_t, const std::string& number) { return add(number + ' '); }
  bool string(const std::string& value) { return add('"' + value + "\" "); }
  bool binary(Json::binary_t&) { return false; }
  bool start_object(std::size_t) { return add("{ "); }
  bool end_object() { return add("} "); }
  bool start_array(std::size_t) { return add("[ "); }
  bool end_array() { return add("] "); }
  bool key(const std::string& name) { return add(name + ": "); }
  static bool parse_error(std::size_t, const std::string&, const Json::exception&) { return false; }
  std::string text;

 private:
  bool add(const std::string& event) {
    text += event;
    return true;
  }
};

}  // namespace

TEST_CASE("events come in order, with white space and a byte order mark passed over") {
  CHECK(events_of(R"({"a":[1,{"b":null},[]],"c":{},"d":true})") ==
        "{ a: [ 1=1 { b: null } [ ] ] c: { } d: true } ");
  CHECK(events_of(" \t\r\n{ \"a\" : [ false , \"x\" ] }\n ") == "{ a: [ false \"x\" ] } ");
  CHECK(events_of("\xef\xbb\xbf[]") == "[ ] ");
  CHECK(events_of("7") == "7=7 ");
  CHECK(events_of("\"\"") == "\"\" ");
}

TEST_CASE("whole numbers are exact to 64 bits; whatever is none has its text only") {
  CHECK(events_of("[0,-0,18446744073709551615,9007199254740993]") ==
        "[ 0=0 -0=0 18446744073709551615=18446744073709551615 9007199254740993=9007199254740993 ] ");
  CHECK(events_of("[18446744073709551616,-1,1.0,1e2,-0.0,1E+2,1e-2,0e0]") ==
        "[ 18446744073709551616 -1 1.0 1e2 -0.0 1E+2 1e-2 0e0 ] ");
}

TEST_CASE("a number has JSON's grammar") {
  for (const auto* bad : {"01",    "-",   "-a",  "+1",       ".5",  "1.",   "1.e2", "1e",  "1e+",   "0x10",
                          "1_000", "NaN", "nan", "Infinity", "inf", "-inf", "1,5",  "--1", "1e2.5", "00"}) {
    CAPTURE(bad);
    fault_of(bad);
    fault_of("[" + std::string(bad) + "]  x");
  }
}

TEST_CASE("a number beyond every double is refused, however it is written; a small one is not") {
  const std::string zeros(400, '0');
  for (const auto& bad :
       std::vector<std::string>{"1e309", "-1e999", "10e308", "0.1e310", "1" + zeros, "0." + zeros + "1e800",
                                "1e99999999999999999999", "12345e305", "1" + zeros + ".5e-50"}) {
    CAPTURE(bad);
    CHECK(fault_of(bad).find("beyond every double") != std::string::npos);
  }
  for (const auto& good :
       std::vector<std::string>{"1e308", "0.1e309", "0e999", "0.0e99999999999999999999", "1e-999",
                                "1e-99999999999999999999", "1" + zeros + "e-100", "0." + zeros + "1e700"}) {
    CAPTURE(good);
    CHECK(events_of(good) == good + ' ');
  }
}

TEST_CASE("escapes are resolved, pairs too; halves of pairs and unknown ones are refused") {
  CHECK(events_of(R"("\"\\\/\b\f\n\r\t")") == "\"\"\\/\b\f\n\r\t\" ");
  CHECK(events_of(R"("a\u0041b\u00e9\u20AC\ud83d\uDE00c")") ==
        "\"aAb\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"
        "c\" ");
  CHECK(events_of(R"("\u0000")") == '"' + std::string(1, '\0') + "\" ");
  CHECK(events_of(R"({"\u0061\u0062":1})") == "{ ab: 1=1 } ");
  for (const auto* bad :
       {R"("\x")", R"("\u12")", R"("\u12g4")", R"("\ud800")", R"("\udc00")", R"("\ud800\ud800")",
        R"("\ud800x")", R"("\ud800\n")", R"("\u-123")", R"("\u 123")", R"("\)", R"("\u)", "\"\\"}) {
    CAPTURE(bad);
    fault_of(bad);
  }
}

TEST_CASE("strings are valid UTF-8 without control characters") {
  for (const std::string_view good : {"\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
                                      "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf", "\x7f"}) {
    CHECK(events_of('"' + std::string(good) + '"') == '"' + std::string(good) + "\" ");
  }
  for (const std::string_view bad :
       {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc2\x7f", "\xc2\xc0", "\xe0\x9f\xbf", "\xe1\x80",
        "\xed\xa0\x80", "\xef\xbf", "\xf0\x8f\xbf\xbf", "\xf1\x80\x80", "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80", "\xff", "\n", "\x1f", "\t"}) {
    CAPTURE(bad);
    fault_of('"' + std::string(bad) + '"');
    fault_of("{\"" + std::string(bad) + "\":1}");
    fault_of("\"" + std::string(bad));
  }
}

TEST_CASE("the whole text is one value") {
  for (const auto* bad : {"",
                          " ",
                          "{",
                          "[",
                          "}",
                          "]",
                          "{]",
                          "[}",
                          "[1",
                          "[1,",
                          "[1,]",
                          "[,1]",
                          "[1 2]",
                          "{\"a\"}",
                          "{\"a\":}",
                          "{\"a\":1,}",
                          "{,}",
                          "{\"a\" 1}",
                          "{1:2}",
                          "{a:1}",
                          "{'a':1}",
                          "{} {}",
                          "1 1",
                          "tru",
                          "nulll",
                          "TRUE",
                          "\"",
                          "// x",
                          "[1]//",
                          "{\"a\":1 \"b\":2}",
                          "\xef\xbb\xbf",
                          "\xef\xbb\xbf\xef\xbb\xbf{}",
                          "\xef\xbb{}",
                          "[\f]"}) {
    CAPTURE(bad);
    fault_of(bad);
  }
}

TEST_CASE("a zero byte is refused wherever it stands") {
  using namespace std::string_literals;
  for (const auto& bad : {"\0"s, "{}\0"s, "\0{}"s, "\"a\0b\""s, "{\"a\0\":1}"s, "[1,\0 2]"s}) {
    CHECK(fault_of(bad).find("zero byte") != std::string::npos);
  }
}

TEST_CASE("nesting is bounded by the text's length alone and needs no stack") {
  const std::string deep = std::string(max_bytes / 2, '[') + std::string(max_bytes / 2, ']');
  CHECK(events_of(deep).size() == 2 * max_bytes);
  fault_of(std::string(max_bytes, '['));
  fault_of(std::string(max_bytes - 1, '[') + '}');
  std::string objects;
  while (objects.size() + 5 <= max_bytes) objects += "{\"a\":";
  fault_of(objects);
  // Kinds are told apart at every level, across words of 64.
  std::string open;
  std::string close;
  for (int i = 0; i < 200; ++i) {
    open += i % 3 == 0 ? "{\"k\":" : "[";
    close.insert(close.begin(), i % 3 == 0 ? '}' : ']');
  }
  CHECK(nlohmann::json::accept(open + "1" + close));
  events_of(open + "1" + close);
  close[100] = close[100] == '}' ? ']' : '}';
  fault_of(open + "1" + close);
}

TEST_CASE("a text longer than the reader was made for is refused, one of that length is read") {
  CHECK(fault_of("[1, 2]", 5).find("too long") != std::string::npos);
  Tape tape;
  std::string fault;
  CHECK(JsonReader(6).read("[1, 2]", tape, fault));
  CHECK(JsonReader(8).read(R"("\u20ac")", tape, fault));
}

TEST_CASE("a fault says where") {
  CHECK(fault_of("{\"shape\":[2,3}") == "line 1, column 14: expected a comma or ], found }");
  CHECK(fault_of("{\n \"a\": tru}") == "line 2, column 7: expected true, found tru}");
  CHECK(fault_of("{\"a\":1") == "line 1, column 7: expected a comma or }, found the end of the text");
}

TEST_CASE("a reader is good for the next text, whatever the one before was") {
  JsonReader reader(100);
  std::string fault;
  Tape first;
  CHECK_FALSE(reader.read("[[[{\"a\":\"\\n", first, fault));
  Tape second;
  CHECK(reader.read("{\"b\":\"\\t\"}", second, fault));
  CHECK(second.text == "{ b: \"\t\" } ");
}

TEST_CASE("100 000 damaged texts: read as another library reads them") {
  std::vector<std::string> seeds{R"({"a":[1,2.5e3,-0,"\u00e9\ud83d\ude00x"],"b":{"c":null,"d":true}})",
                                 "[1.25E+7, \"\xe2\x82\xac\", [], {}, false]"};
  for (const auto& file : test::vectors("array10")) seeds.push_back(file.second);
  test::Mutator mutator(20261130, std::move(seeds));
  JsonReader reader(max_bytes);
  int good = 0;
  for (int i = 0; i < 100000; ++i) {
    const auto text = mutator.next();
    Tape tape(true);
    std::string fault;
    ReferenceTape reference;
    const bool read = reader.read(text, tape, fault);
    // The reference takes a zero byte for the end.
    const bool expected = text.find('\0') == std::string::npos &&
                          nlohmann::json::sax_parse(text.begin(), text.end(), &reference);
    CAPTURE(text);
    REQUIRE(read == expected);
    if (read) {
      ++good;
      REQUIRE(tape.text == reference.text);
    }
  }
  CHECK(good > 10000);
}
