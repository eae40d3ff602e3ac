#include <nlohmann/json.hpp>

#include "proto/query/reply.hpp"
#include "proto/query/request.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace pixhist;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr RequestLimits limits{{8, 12}, {64, 0, 128, AxisType::f32}};
  const auto result = parse_request(fuzz::bytes_of(data, size), limits);
  if (const auto* request = std::get_if<Request>(&result)) {
    fuzz::require(!request->roi.empty() && Rect::whole(limits.detector).contains(request->roi),
                  "a region lies inside the detector");
    fuzz::require(request->bins.begin < request->bins.end && request->bins.end <= limits.axis.bins,
                  "bins lie inside the axis");
    fuzz::require(request->name.size() <= 256, "a name is short");
    return 0;
  }
  const auto& error = std::get<RequestError>(result);
  fuzz::require_presentable(error.message, 400);
  fuzz::require(error.code != ErrorCode::internal, "a request is no internal error");
  fuzz::require(nlohmann::json::accept(encode_error(error.id, error.code, error.message)),
                "an answer is JSON");
  return 0;
}
