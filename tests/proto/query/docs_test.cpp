// docs/queries.md and docs/wire/array10.md against the tables in the code.

#include <doctest/doctest.h>

#include <string>

#include "core/model/frame_fate.hpp"
#include "proto/error_catalog.hpp"
#include "proto/ingest/array10_encoder.hpp"
#include "proto/query/op_table.hpp"
#include "tests/proto/support.hpp"

using namespace pixhist;

namespace {

std::string escaped(std::string_view cell) {
  std::string out;
  for (const char c : cell) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

std::string error_table() {
  std::string out = "| code | retryable | meaning |\n| --- | --- | --- |\n";
  for (const auto& entry : error_catalog) {
    out += "| `" + std::string(entry.name) + "` | " + (entry.retryable ? "yes" : "no") + " | " +
           escaped(entry.meaning) + " |\n";
  }
  return out;
}

std::string argument_table() {
  std::string out = "| op | argument | kind | default | meaning |\n| --- | --- | --- | --- | --- |\n";
  for (const auto& spec : op_table()) {
    for (const auto& arg : spec.args) {
      if (!spec.built) continue;
      out += "| `" + std::string(spec.name) + "` | `" + std::string(arg.name) + "` | " + escaped(arg.kind) +
             " | " + (arg.fallback.empty() ? "required" : '`' + escaped(arg.fallback) + '`') + " | " +
             (arg.built ? "" : "(not built yet) ") + escaped(arg.meaning) + " |\n";
    }
  }
  return out;
}

void check_block(const std::string& page, const std::string& block) {
  const bool found = page.find("\n\n" + block + "\n") != std::string::npos;
  if (!found)
    MESSAGE("docs/queries.md is out of date; between two empty lines there should stand:\n" << block);
  CHECK(found);
}

}  // namespace

TEST_CASE("docs/queries.md: the error table and the arguments are those of the code") {
  const auto page = test::read_file(PIXHIST_DOCS "/queries.md");
  check_block(page, error_table());
  check_block(page, argument_table());
}

TEST_CASE("docs/queries.md: a section for each op that is built, and a word on each that is not") {
  const auto page = test::read_file(PIXHIST_DOCS "/queries.md");
  const auto planned = page.find("## Not built yet");
  REQUIRE(planned != std::string::npos);
  for (const auto& spec : op_table()) {
    CAPTURE(spec.name);
    const auto name = '`' + std::string(spec.name) + '`';
    CHECK((spec.built ? page.find("\n### " + name) : page.find(name, planned)) != std::string::npos);
  }
}

TEST_CASE("docs/wire/array10.md: every reason that this format gives") {
  const auto page = test::read_file(PIXHIST_DOCS "/wire/array10.md");
  for (const auto reason : {RejectReason::parts, RejectReason::too_large, RejectReason::not_json,
                            RejectReason::bad_header, RejectReason::unknown_message, RejectReason::encoding,
                            RejectReason::dtype, RejectReason::geometry, RejectReason::size}) {
    CAPTURE(name_of(reason));
    CHECK(page.find("| `" + std::string(name_of(reason)) + "` |") != std::string::npos);
  }
}

TEST_CASE("docs/wire/array10.md: its examples are what the encoder writes") {
  const auto page = test::read_file(PIXHIST_DOCS "/wire/array10.md");
  std::string header;
  encode_array10_header({{2, 3}, PixelType::u16, 4242, "a"}, header);
  CHECK(page.find(std::to_string(header.size()) + " bytes  " + header) != std::string::npos);
  CHECK(page.find('\n' + encode_array10_end("a", 1000) + '\n') != std::string::npos);
}
