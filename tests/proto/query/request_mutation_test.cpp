#include <doctest/doctest.h>

#include <array>
#include <string>
#include <vector>

#include "proto/query/reply.hpp"
#include "tests/proto/query/request_support.hpp"

using namespace pixhist;

namespace {

/// What the service relies on: nothing of a request can lead outside the detector.
bool within_limits(const Request& request) {
  const auto whole = Rect::whole(test::limits.detector);
  const bool ttl_fits = !request.ttl || (request.ttl->count() > 0 && request.ttl->count() <= 86400000);
  return !request.roi.empty() && whole.contains(request.roi) && request.bins.begin < request.bins.end &&
         request.bins.end <= test::limits.axis.bins && request.name.size() <= 256 && ttl_fits &&
         (!request.then_reset || (request.dtype == StorageType::u32 && request.rebin == 1)) &&
         request.bins.size() % request.rebin == 0 && request.max_px.value_or(1) >= 1;
}

}  // namespace

TEST_CASE("20 000 damaged requests: each gives a request within the limits or an error, and nothing throws") {
  std::vector<std::string> seeds;
  for (const auto& file : test::vectors("requests")) seeds.push_back(file.second);
  test::Mutator mutator(20260201, std::move(seeds));
  std::array<int, error_catalog.size()> codes{};
  int requests = 0;
  for (int i = 0; i < 20000; ++i) {
    const auto text = mutator.next();
    const auto result = test::parse(text);
    if (const auto* request = std::get_if<Request>(&result)) {
      ++requests;
      REQUIRE(within_limits(*request));
      continue;
    }
    const auto& error = std::get<RequestError>(result);
    ++codes[static_cast<std::size_t>(error.code)];
    REQUIRE(!error.message.empty());
    REQUIRE(error.message.size() <= 400);
    REQUIRE(test::is_printable(error.message));
    REQUIRE(nlohmann::json::accept(encode_error(error.id, error.code, error.message)));
  }
  // The damage reaches every branch, so the loop above has looked at each.
  CHECK(requests > 100);
  for (const auto code : {ErrorCode::bad_request, ErrorCode::unsupported_version, ErrorCode::unknown_op,
                          ErrorCode::bad_argument, ErrorCode::missing_argument, ErrorCode::pixel_out_of_range,
                          ErrorCode::roi_out_of_range, ErrorCode::bins_out_of_range, ErrorCode::not_built}) {
    CAPTURE(entry_of(code).name);
    CHECK(codes[static_cast<std::size_t>(code)] > 0);
  }
  CHECK(codes[static_cast<std::size_t>(ErrorCode::internal)] == 0);
}
