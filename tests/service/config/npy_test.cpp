#include "service/config/npy.hpp"

#include <doctest/doctest.h>

#include <random>

#include "tests/service/config/load_for_test.hpp"

namespace pixhist {
namespace {

using test::has;

constexpr const char* good_dict = "{'descr': '|b1', 'fortran_order': False, 'shape': (2, 3), }";

/// A file's header as numpy.save writes it: the dict, blanks up to a multiple of 64, a line feed.
std::string npy(std::string dict, int version = 1) {
  const std::size_t before = version == 1 ? 10 : 12;
  while ((before + dict.size() + 1) % 64 != 0) dict += ' ';
  dict += '\n';
  std::string file("\x93NUMPY", 6);
  file += static_cast<char>(version);
  file += '\0';
  for (std::size_t i = 0; i < before - 8; ++i) file += static_cast<char>(dict.size() >> (8 * i) & 0xFF);
  return file + dict;
}

std::string fault(const std::string& file) {
  const auto read = read_npy_header(file);
  return std::holds_alternative<std::string>(read) ? std::get<std::string>(read) : "";
}

TEST_CASE("npy: what numpy.save writes, in all three versions") {
  for (const int version : {1, 2, 3}) {
    const auto read = read_npy_header(npy(good_dict, version) + "data");
    REQUIRE(std::holds_alternative<NpyHeader>(read));
    const auto& header = std::get<NpyHeader>(read);
    CHECK(header.descr == "|b1");
    CHECK_FALSE(header.fortran_order);
    CHECK(header.shape == std::vector<std::uint64_t>{2, 3});
    CHECK(header.data_offset == 128);
  }
}

TEST_CASE("npy: every order of keys, both quotes, any number of dimensions, True") {
  const auto shape_of = [](const char* shape) {
    const auto read =
        read_npy_header(npy(std::string("{\"shape\":") + shape + ",'fortran_order':True,\"descr\":\"<u2\"}"));
    REQUIRE_MESSAGE(std::holds_alternative<NpyHeader>(read), shape);
    CHECK(std::get<NpyHeader>(read).fortran_order);
    CHECK(std::get<NpyHeader>(read).descr == "<u2");
    return std::get<NpyHeader>(read).shape;
  };
  CHECK(shape_of("()").empty());
  CHECK(shape_of("(7,)") == std::vector<std::uint64_t>{7});
  CHECK(shape_of("( 1 , 2,3, )") == std::vector<std::uint64_t>{1, 2, 3});
  CHECK(shape_of("(18446744073709551615, 0)") == std::vector<std::uint64_t>{18446744073709551615ULL, 0});
}

TEST_CASE("npy: what is no header says why") {
  CHECK(has(fault(""), "no .npy file"));
  CHECK(has(fault("PK\x03\x04"), "no .npy file"));
  const std::string good = npy(good_dict);
  for (std::size_t n = 6; n < good.size(); ++n)
    CHECK(has(fault(good.substr(0, n)), "ends within the header"));
  CHECK(fault(good).empty());
  std::string version = good;
  version[6] = 4;
  CHECK(has(fault(version), "version is 4.0; read are 1.0, 2.0 and 3.0"));
  version[6] = 1;
  version[7] = 1;
  CHECK(has(fault(version), "version is 1.1"));
  std::string huge = npy(good_dict, 2);
  huge[11] = '\x7F';
  CHECK(has(fault(huge), "at most 16372 are read"));
  struct BadDict {
    std::string dict, what;
  };
  for (const auto& bad : std::vector<BadDict>{
           {"", "begin with {"},
           {"[]", "begin with {"},
           {"{'descr': '|b1', 'fortran_order': False}", "all needed"},
           {"{'descr': '|b1', 'fortran_order': False, 'shape': (2, 3)} x", "behind the closing"},
           {"{'descr': '|b1', 'fortran_order': False, 'shape': (2, 3)", "comma or }"},
           {"{'descr': '|b1' 'fortran_order': False, 'shape': (2, 3)}", "comma or }"},
           {"{'descr': '|b1', 'descr': '|b1', 'fortran_order': False, 'shape': (2, 3)}", "stands twice"},
           {"{'descr': '|b1', 'fortran_order': False, 'shape': (2, 3), 'x': 1}", "only the keys"},
           {"{'descr': [('a', '|b1')], 'fortran_order': False, 'shape': (2, 3)}", "type name in quotes"},
           {"{'descr': '|b1', 'fortran_order': 0, 'shape': (2, 3)}", "True or False"},
           {"{'descr': '|b1', 'fortran_order': False, 'shape': (2)}", "tuple"},
           {"{'descr': '|b1', 'fortran_order': False, 'shape': (-2, 3)}", "tuple"},
           {"{'descr': '|b1', 'fortran_order': False, 'shape': (2 3)}", "tuple"},
           {"{'descr': '|b1', 'fortran_order': False, 'shape': (2L, 3L)}", "tuple"},
           {"{'descr': '|b1', 'fortran_order': False, 'shape': (18446744073709551616,)}", "tuple"},
           {"{'descr': '|b1', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}", "tuple"},
           {"{'descr': '|b1', 'fortran_order': False, 'shape': [2, 3]}", "tuple"},
           {"{descr: '|b1'}", "quotes"},
           {"{'des\\x63r': '|b1'}", "quotes"},
           {"{'descr", "quotes"}}) {
    CAPTURE(bad.dict);
    CHECK(has(fault(npy(bad.dict)), bad.what));
  }
}

TEST_CASE("npy: no mutation of a header makes it throw, and what is read lies inside the file") {
  std::mt19937 random(20261130);
  std::size_t good = 0;
  for (int round = 0; round < 200'000; ++round) {
    std::string file = npy(good_dict, 1 + round % 3);
    const auto changes = 1 + random() % 4;
    for (unsigned i = 0; i < changes && !file.empty(); ++i) {
      const auto at = random() % file.size();
      switch (random() % 4) {
        case 0: file[at] = static_cast<char>(random()); break;
        case 1: file.erase(at, 1 + random() % 5); break;
        case 2: file.insert(at, 1, "{}()',: 0123456789"[random() % 19]); break;
        default: file.resize(at + 1);
      }
    }
    const auto read = read_npy_header(file);
    if (const auto* header = std::get_if<NpyHeader>(&read)) {
      ++good;
      REQUIRE(header->data_offset <= file.size());
      REQUIRE(header->shape.size() <= 8);
    } else {
      REQUIRE_FALSE(std::get<std::string>(read).empty());
    }
  }
  CHECK(good > 1000);  // blanks and digits may change
}

}  // namespace
}  // namespace pixhist
