#include "proto/query/request.hpp"

#include <string_view>
#include <utility>

#include "proto/json.hpp"
#include "proto/query/arguments.hpp"
#include "proto/query/op_table.hpp"
#include "proto/text.hpp"

namespace pixhist {
namespace {

using nlohmann::json;

constexpr std::size_t max_error_bytes = 400;

RequestError error(json id, ErrorCode code, std::string_view message) {
  return {std::move(id), code, printable(message, max_error_bytes)};
}

std::string ticked(std::string_view text) { return '`' + printable(text, 60) + '`'; }

/// Null with `fault` set if the bytes are not one JSON value.
json parse_or_fault(std::string_view text, std::string& fault) {
  // nlohmann takes a zero byte for the end of the text and would not look at what follows.
  if (text.find('\0') != std::string_view::npos) {
    fault = "it contains a zero byte";
    return nullptr;
  }
  try {
    return parse_json(text);
  } catch (const json::exception& problem) {
    fault = json_fault(problem.what());
    return nullptr;
  }
}

std::string op_names() {
  std::string names;
  for (const auto& spec : op_table()) names += (names.empty() ? "" : " ") + std::string(spec.name);
  return names;
}

/// Checks all of a request but its arguments. `id` is set as soon as it is known.
std::variant<const OpSpec*, Fault> read_head(const json& request, json& id) {
  if (!request.is_object()) return Fault{ErrorCode::bad_request, "the request is JSON, but not an object"};
  if (const auto it = request.find("id"); it != request.end()) {
    if (!it->is_string() && !it->is_number_integer() && !it->is_null())
      return Fault{ErrorCode::bad_request, "`id` must be a string, an integer or null; it is " + shown(*it)};
    id = *it;
  }
  const auto v = request.find("v");
  if (v == request.end() || !v->is_number_integer() || *v != 1) {
    return Fault{
        ErrorCode::unsupported_version,
        (v == request.end() ? "`v` is missing" : "`v` is " + shown(*v)) + "; this service speaks \"v\":1"};
  }
  for (const auto& item : request.items()) {
    const auto& key = item.key();
    if (key == "v" || key == "id" || key == "op" || key == "args") continue;
    return Fault{ErrorCode::bad_request, "unknown key " + ticked(key) + "; a request has v, id, op and args"};
  }
  const auto op = request.find("op");
  if (op == request.end() || !op->is_string()) {
    return Fault{ErrorCode::bad_request,
                 "`op` must be a string; it is " + (op == request.end() ? "missing" : shown(*op))};
  }
  const auto& name = op->get_ref<const std::string&>();
  const auto* spec = find_op(name);
  if (spec == nullptr)
    return Fault{ErrorCode::unknown_op, "no op " + ticked(name) + "; known: " + op_names()};
  if (!spec->built)
    return Fault{ErrorCode::not_built, "op " + ticked(name) + " is known, but not built yet in this version"};
  return spec;
}

}  // namespace

std::variant<Request, RequestError> parse_request(std::span<const std::byte> bytes,
                                                  const RequestLimits& limits) {
  if (bytes.size() > max_request_bytes) {
    return error(nullptr, ErrorCode::request_too_large,
                 "the request has " + std::to_string(bytes.size()) + " bytes; at most " +
                     std::to_string(max_request_bytes) + " are read");
  }
  std::string fault;
  const json request = parse_or_fault({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, fault);
  if (!fault.empty()) return error(nullptr, ErrorCode::bad_request, "the request is not JSON: " + fault);

  Request result;
  const auto head = read_head(request, result.id);
  if (const auto* problem = std::get_if<Fault>(&head)) {
    return error(std::move(result.id), problem->code, problem->message);
  }
  const OpSpec& spec = *std::get<const OpSpec*>(head);
  result.op = spec.op;
  result.roi = Rect::whole(limits.detector);
  result.bins = {0, limits.axis.bins};
  const json none = json::object();
  const auto args = request.find("args");
  if (auto problem = read_arguments(args == request.end() ? none : *args, spec, limits, result)) {
    return error(std::move(result.id), problem->code, problem->message);
  }
  return result;
}

bool is_control(const Request& request) {
  return op_table()[static_cast<std::size_t>(request.op)].control || request.then_reset;
}

}  // namespace pixhist
