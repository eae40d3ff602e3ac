#include "proto/text.hpp"

#include <doctest/doctest.h>

#include <string>

using pixhist::json_fault;
using pixhist::printable;

TEST_CASE("printable text comes back unchanged") {
  CHECK(printable("", 10) == "");
  CHECK(printable("shape [2, 3] ~\\\"", 40) == "shape [2, 3] ~\\\"");
  CHECK(printable("1234567890", 10) == "1234567890");
}

TEST_CASE("control characters, DEL and bytes beyond ASCII are escaped") {
  CHECK(printable("a\nb", 40) == "a\\x0ab");
  CHECK(printable(std::string("\0\x1b[31m", 6), 40) == "\\x00\\x1b[31m");
  CHECK(printable("\x7f\x80\xff", 40) == "\\x7f\\x80\\xff");
  CHECK(printable("\xc2\xb5", 40) == "\\xc2\\xb5");
}

TEST_CASE("what is too long is cut, shows it, and no escape is torn") {
  CHECK(printable("12345678901", 10) == "1234567...");
  CHECK(printable("12345\n789", 10) == "12345...");
  CHECK(printable("abcd", 3) == "...");
  CHECK(printable(std::string(100000, '\xff'), 300).size() <= 300);
}

TEST_CASE("nlohmann's error number is left out") {
  CHECK(json_fault("[json.exception.parse_error.101] parse error at line 1") == "parse error at line 1");
  CHECK(json_fault("no number") == "no number");
  CHECK(json_fault("[odd") == "[odd");
}
