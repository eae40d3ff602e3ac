#include "proto/query/envelope.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <string_view>
#include <vector>

#include "tests/proto/support.hpp"

using namespace pixhist;

namespace {

Envelope split(std::initializer_list<std::string_view> texts) {
  std::vector<std::span<const std::byte>> parts;
  for (const auto text : texts) parts.push_back(test::bytes_of(text));
  return split_envelope(parts);
}

struct Case {
  std::initializer_list<std::string_view> parts;
  std::size_t envelope;
  bool good;
};

}  // namespace

TEST_CASE("REQ, REQ_CORRELATE and DEALER, with and without an empty part") {
  const Case cases[] = {{{"{}"}, 0, true},                          // DEALER, bare
                        {{"", "{}"}, 1, true},                      // REQ
                        {{"\x01\x02\x03\x04", "", "{}"}, 2, true},  // REQ_CORRELATE
                        {{"a", "b", "c", "", "{}"}, 4, true},       // behind a chain of routers
                        {{"", ""}, 1, true},  // the request is the empty text: bad_request, but by the parser
                        {{}, 0, false},
                        {{""}, 1, false},
                        {{"{}", ""}, 2, false},  // the envelope has eaten the request
                        {{"{}", "{}"}, 0, false},
                        {{"", "{}", "{}"}, 1, false},
                        {{"id", "", "{}", "binary"}, 2, false},
                        {{"", "", "{}"}, 1, false}};  // only the first empty part ends the envelope
  for (const auto& c : cases) {
    CAPTURE(c.parts.size());
    CAPTURE(c.envelope);
    const auto envelope = split(c.parts);
    CHECK(envelope.parts == c.envelope);
    CHECK(envelope.request.has_value() == c.good);
    if (c.good) CHECK(*envelope.request == c.parts.size() - 1);
    CHECK(envelope.fault.empty() == c.good);
  }
  CHECK(split({"{}", "{}"}).fault.starts_with("2 parts behind the envelope"));
}
