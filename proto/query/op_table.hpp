#pragma once
// Every operation and argument of the protocol, built or not: the parser, `info` and docs/queries.md read
// this.

#include <span>
#include <string_view>

#include "proto/query/request.hpp"

namespace pixhist {

struct ArgSpec {
  std::string_view name;
  std::string_view kind;      // for people
  std::string_view fallback;  // JSON of the default; empty: the argument is required
  bool built;                 // false: refused as not_built unless it is at its default
  std::string_view meaning;
};

struct OpSpec {
  Op op;
  std::string_view name;
  bool built;
  bool control;  // needs query.allow_control, whatever the arguments
  std::string_view meaning;
  std::span<const ArgSpec> args;
};

/// In the order of enum Op.
std::span<const OpSpec> op_table();

/// Null if there is no such op.
const OpSpec* find_op(std::string_view name);

}  // namespace pixhist
