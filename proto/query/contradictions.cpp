#include "proto/query/contradictions.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "proto/query/reply.hpp"

namespace pixhist {
namespace {

std::optional<Fault> exclude_each_other(std::string_view one, std::string_view other, std::string_view why) {
  return Fault{ErrorCode::bad_argument, std::string(one) + " and " + std::string(other) +
                                            " exclude each other: " + std::string(why) +
                                            "; leave one of them out"};
}

std::optional<Fault> find_then_reset_fault(const Request& request) {
  if (!request.then_reset) return std::nullopt;
  if (request.dtype != StorageType::u32) {
    return Fault{ErrorCode::bad_argument, "then_reset needs dtype <u4, so that no count is lost; dtype is " +
                                              std::string(numpy_dtype(request.dtype))};
  }
  if (request.rebin != 1) {
    return Fault{ErrorCode::bad_argument, "then_reset needs rebin 1, so that no bin is lost; rebin is " +
                                              std::to_string(request.rebin)};
  }
  if (request.since) return exclude_each_other("then_reset", "since", "what is held is the whole cut");
  return std::nullopt;
}

/// A held cut does not change, and needs no memory of the device.
std::optional<Fault> find_live_only_fault(const Request& request) {
  if (request.op == Op::release || !request.snapshot) return std::nullopt;
  const std::pair<bool, std::string_view> live_only[] = {
      {request.then_reset, "then_reset"}, {request.fresh, "fresh"}, {request.pause, "pause"}};
  for (const auto& [given, name] : live_only) {
    if (given) return exclude_each_other(name, "snapshot", "a held cut does not change");
  }
  return std::nullopt;
}

std::optional<Fault> find_max_px_fault(const Request& request) {
  const bool of_one_pixel = request.statistic == Statistic::median || request.statistic == Statistic::mode;
  const auto longest = std::max(request.roi.rows(), request.roi.cols());
  if (!request.max_px || !of_one_pixel || longest <= *request.max_px) return std::nullopt;
  const std::string name(name_of(request.statistic));
  return Fault{ErrorCode::bad_argument,
               "max_px " + std::to_string(*request.max_px) + " would combine pixels, and the " + name +
                   " of several pixels is not made of theirs; ask for a roi of at most " +
                   std::to_string(*request.max_px) + " rows and columns, or for stat sum, mean, std or max"};
}

}  // namespace

std::optional<Fault> find_contradiction(const nlohmann::json& args, const Request& request) {
  const auto given = [&args](const char* name) { return args.contains(name) && !args[name].is_null(); };
  if (given("bins") && given("range")) return exclude_each_other("bins", "range", "both say which bins");
  if (request.bins.size() % request.rebin != 0) {
    return Fault{ErrorCode::bad_argument, "rebin " + std::to_string(request.rebin) + " does not divide the " +
                                              std::to_string(request.bins.size()) + " bins taken"};
  }
  if (auto fault = find_then_reset_fault(request)) return fault;
  if (auto fault = find_live_only_fault(request)) return fault;
  return find_max_px_fault(request);
}

}  // namespace pixhist
