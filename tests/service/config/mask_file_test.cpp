#include "service/config/mask_file.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>

#include "proto/json.hpp"
#include "service/config/check_config.hpp"
#include "tests/service/config/load_for_test.hpp"

namespace pixhist {
namespace {

using test::has;
using test::load_set;
using test::rule_at;
using test::TemporaryFile;

std::string npy(const std::string& descr, const std::string& shape, const std::string& data,
                const std::string& order = "False") {
  const std::string dict =
      "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
  return std::string("\x93NUMPY\x01\0", 8) + static_cast<char>(dict.size()) + '\0' + dict + data;
}

const std::string six("\0\x01\0\0\xFF\x02", 6);  // three of six are masked

std::string fault(const std::string& text) {
  const TemporaryFile file(text);
  const auto read = read_mask_file(file.path(), {2, 3});
  return std::holds_alternative<std::string>(read) ? std::get<std::string>(read) : "";
}

TEST_CASE("mask_file: bool and u1, non-zero is masked") {
  for (const char* descr : {"|b1", "|u1"}) {
    const TemporaryFile file(npy(descr, "(2, 3)", six));
    const auto read = read_mask_file(file.path(), {2, 3});
    REQUIRE(std::holds_alternative<std::vector<std::uint8_t>>(read));
    CHECK(std::get<std::vector<std::uint8_t>>(read) == std::vector<std::uint8_t>{0, 1, 0, 0, 1, 1});
  }
}

TEST_CASE("mask_file: every other file is refused and says what is allowed") {
  CHECK(
      has(fault(npy("<u2", "(2, 3)", six + six)), "dtype is '<u2'; allowed: bool ('|b1') or uint8 ('|u1')"));
  CHECK(has(fault(npy("|i1", "(2, 3)", six)), "dtype is '|i1'"));
  CHECK(has(fault(npy("|b1", "(2, 3)", six, "True")), "Fortran order"));
  CHECK(has(fault(npy("|b1", "(3, 2)", six)), "shape is (3, 2); allowed: (2, 3)"));
  CHECK(has(fault(npy("|b1", "(6,)", six)), "shape is (6,); allowed: (2, 3)"));
  CHECK(has(fault(npy("|b1", "(1, 2, 3)", six)), "shape is (1, 2, 3)"));
  CHECK(has(fault(npy("|b1", "(2, 3)", six.substr(1))), "torn"));
  CHECK(has(fault(npy("|b1", "(2, 3)", six + "x")), "torn"));
  CHECK(has(fault(npy("|b1", "(2, 3)", six).substr(0, 40)), "ends within the header"));
  CHECK(has(fault(""), "no .npy file"));
  const auto path_fault = [](const std::string& path) {
    return std::get<std::string>(read_mask_file(path, {2, 3}));
  };
  CHECK(has(path_fault("/nonexistent/mask.npy"), "No such file or directory"));
  CHECK(has(path_fault("/"), "no regular file"));
  const TemporaryFile name("");
  const std::string pipe = name.path() + ".pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(has(path_fault(pipe), "no regular file"));
  std::filesystem::remove(pipe);
}

TEST_CASE("mask_file: no memory is taken for pixels that are not there") {
  const TemporaryFile file(npy("|u1", "(1048576, 1048576)", six));
  const auto read = read_mask_file(file.path(), {1 << 20, 1 << 20});
  REQUIRE(std::holds_alternative<std::string>(read));
  CHECK(has(std::get<std::string>(read), "torn"));
}

TEST_CASE("mask_file: in a configuration it becomes the mask of the histogram, and is shown") {
  const TemporaryFile file(npy("|b1", "(2, 3)", six));
  const auto loaded =
      load_set({"detector.rows=4", "detector.cols=3", "sources.0.shape=[2,3]", "sources.0.origin=[0,0]",
                "sources.0.mask_file=" + file.path(), "sources.0.on_incomplete=mask_missing",
                "sources.1.shape=[2,3]", "sources.1.origin=[2,0]", "sources.1.endpoint=tcp://h:1"});
  REQUIRE_MESSAGE(loaded.config, loaded.error_text());
  CHECK(loaded.config->histogram_spec(0).mask == std::vector<std::uint8_t>{0, 1, 0, 0, 1, 1});
  CHECK(loaded.config->histogram_spec(0).mask_missing);
  CHECK(loaded.config->histogram_spec(1).mask.empty());
  CHECK_FALSE(loaded.config->histogram_spec(1).mask_missing);
  CHECK(loaded.config->sources[0].masked_pixels() == 3);
  const auto plan = plan_memory(*loaded.config, false);
  CHECK(has(check_config_text(loaded, plan), "masked pixels:\n  module0: 3 of 6 (" + file.path() + ")\n"));
  const auto j = parse_json(check_config_json(loaded, plan));
  REQUIRE(j.at("masks").size() == 1);
  CHECK(j.at("masks").at(0) ==
        nlohmann::json{{"source", "module0"}, {"file", file.path()}, {"masked", 3}, {"pixels", 6}});
}

TEST_CASE("mask_file: a bad one is an error of its key beside all others") {
  const TemporaryFile file(npy("|b1", "(2, 3)", six));
  const auto bad = load_set({"sources.0.mask_file=" + file.path(), "batch.frames=0"});
  CHECK(has(rule_at(bad, "sources.0.mask_file"), "shape is (2, 3); allowed: (512, 1024)"));
  CHECK(bad.errors.size() == 2);
  CHECK(has(bad.error_text(), "sources.0.mask_file: given \"" + file.path() + "\" (--set); its shape"));
  // Against a shape that is itself wrong nothing is judged.
  CHECK(load_set({"sources.0.mask_file=" + file.path(), "detector.rows=0"}).errors.size() == 1);
}

}  // namespace
}  // namespace pixhist
