#pragma once
// The `args` of a request: checked against the op's table and the detector, then written into the Request.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "proto/error_catalog.hpp"
#include "proto/query/op_table.hpp"
#include "proto/query/request.hpp"

namespace pixhist {

/// Why a request is refused; the message is not yet bounded.
struct Fault {
  ErrorCode code = ErrorCode::internal;
  std::string message;
};

/// Nothing: all is well. `request` holds the defaults before and is unspecified after a fault.
std::optional<Fault> read_arguments(const nlohmann::json& args, const OpSpec& spec,
                                    const RequestLimits& limits, Request& request);

/// A value as it stands in a message: bounded, printable, and no recursion into what is nested.
std::string shown(const nlohmann::json& value);

}  // namespace pixhist
