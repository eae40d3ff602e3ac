#include "service/config/config_values.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "proto/json.hpp"
#include "service/config/strict_json.hpp"

namespace pixhist {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view letters_and_digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
constexpr std::size_t max_ipc_path = 107;  // sockaddr_un holds 108 with the final zero

bool only_of(std::string_view text, std::string_view more) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return letters_and_digits.find(c) != std::string_view::npos || more.find(c) != std::string_view::npos;
  });
}

std::optional<std::uint64_t> parse_unsigned(std::string_view digits) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

/// A JSON number without a fraction, as the JSON Schema type "integer" means it.
std::optional<std::uint64_t> unsigned_of(const Json& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  if (value.is_number_integer()) {
    const auto number = value.get<std::int64_t>();
    return number >= 0 ? std::optional(static_cast<std::uint64_t>(number)) : std::nullopt;
  }
  if (!value.is_number_float()) return std::nullopt;
  const double number = value.get<double>();
  if (!(number >= 0 && number < 9007199254740992.0) || number != std::floor(number)) return std::nullopt;
  return static_cast<std::uint64_t>(number);
}

bool integer_in_range(const ConfigField& field, const Json& value) {
  const auto number = unsigned_of(value);
  return number && *number >= field.min && *number <= field.max;
}

bool size_in_range(const ConfigField& field, const Json& value) {
  const auto bytes = value.is_string() ? parse_size(value.get_ref<const std::string&>()) : unsigned_of(value);
  return bytes && *bytes >= field.min && *bytes <= field.max;
}

bool text_valid(const ConfigField& field, const std::string& text) {
  const bool control = std::any_of(text.begin(), text.end(),
                                   [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
  return text.size() <= field.max && !control && valid_utf8(text);
}

bool name_valid(const std::string& text) {
  return !text.empty() && text.size() <= 64 && only_of(text, "_.-");
}

bool is_finite_number(const Json& value) { return value.is_number() && std::isfinite(value.get<double>()); }

bool port_valid(std::string_view port) {
  const auto number = parse_unsigned(port);
  return number && *number <= 65535;
}

bool host_valid(std::string_view host) {
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    return only_of(host.substr(1, host.size() - 2), ":.%_-");
  return !host.empty() && host.size() <= 253 && only_of(host, "_.-");
}

template <class Each>
bool list_of(const Json& value, std::size_t least, std::size_t most, Each&& each) {
  return value.is_array() && value.size() >= least && value.size() <= most &&
         std::all_of(value.begin(), value.end(), each);
}

bool shape_of_value_fits(const ConfigField& field, const Json& value) {
  const auto is_endpoint = [](const Json& v) {
    return v.is_string() && endpoint_valid(v.get_ref<const std::string&>());
  };
  switch (field.type) {
    case FieldType::integer: return integer_in_range(field, value);
    case FieldType::number: return is_finite_number(value);
    case FieldType::boolean: return value.is_boolean();
    case FieldType::text: return value.is_string() && text_valid(field, value.get_ref<const std::string&>());
    case FieldType::name: return value.is_string() && name_valid(value.get_ref<const std::string&>());
    case FieldType::choice:
      return value.is_string() && std::find(field.choices.begin(), field.choices.end(),
                                            value.get_ref<const std::string&>()) != field.choices.end();
    case FieldType::size: return size_in_range(field, value);
    case FieldType::endpoint: return is_endpoint(value);
    case FieldType::listen: return value.is_string() && listen_valid(value.get_ref<const std::string&>());
    case FieldType::endpoints: return list_of(value, 0, field.max, is_endpoint);
    case FieldType::pair:
      return list_of(value, 2, 2, [&](const Json& v) { return integer_in_range(field, v); });
    case FieldType::numbers: return list_of(value, 0, field.max, is_finite_number);
  }
  return false;
}

bool takes_text(FieldType type) {
  switch (type) {
    case FieldType::text:
    case FieldType::name:
    case FieldType::choice:
    case FieldType::endpoint:
    case FieldType::listen: return true;
    default: return false;
  }
}

std::string not_built_text(const std::string& there) {
  return "not built yet in this version, which has: " + there;
}

}  // namespace

std::optional<std::string> refusal(const ConfigField& field, const Json& value) {
  const bool fits = value.is_null() ? field.nullable : shape_of_value_fits(field, value);
  if (!fits) return "allowed: " + allowed_text(field);
  if (field.built == Built::default_only && value != parse_ordered_json(field.default_json))
    return not_built_text(std::string(field.default_json));
  if (field.built == Built::some_choices &&
      std::find(field.built_choices.begin(), field.built_choices.end(),
                value.get_ref<const std::string&>()) == field.built_choices.end()) {
    std::string there;
    for (const auto choice : field.built_choices) there.append(there.empty() ? "" : ", ").append(choice);
    return not_built_text(there);
  }
  return std::nullopt;
}

Json value_from_text(const ConfigField& field, std::string_view text) {
  const auto json = parse_strict_json(text);
  const bool usable =
      json.parsed && json.errors.empty() &&
      (!takes_text(field.type) || json.value.is_string() || (json.value.is_null() && field.nullable));
  return usable ? json.value : Json(std::string(text));
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  constexpr std::pair<std::string_view, unsigned> units[] = {{"KiB", 10}, {"MiB", 20}, {"GiB", 30}};
  for (const auto& [unit, shift] : units) {
    if (text.size() <= unit.size() || text.substr(text.size() - unit.size()) != unit) continue;
    auto digits = text.substr(0, text.size() - unit.size());
    if (digits.back() == ' ') digits.remove_suffix(1);
    const auto number = parse_unsigned(digits);
    if (!number || *number > (std::numeric_limits<std::uint64_t>::max() >> shift)) return std::nullopt;
    return *number << shift;
  }
  return std::nullopt;
}

std::uint64_t size_value(const Json& value) {
  const auto bytes = value.is_string() ? parse_size(value.get_ref<const std::string&>()) : unsigned_of(value);
  return bytes.value();
}

bool endpoint_valid(std::string_view endpoint) {
  constexpr std::string_view tcp = "tcp://";
  constexpr std::string_view ipc = "ipc://";
  if (endpoint.substr(0, ipc.size()) == ipc) {
    const auto path = endpoint.substr(ipc.size());
    return !path.empty() && path.size() <= max_ipc_path &&
           std::all_of(path.begin(), path.end(), [](char c) { return c > 0x20 && c < 0x7F; });
  }
  if (endpoint.substr(0, tcp.size()) != tcp) return false;
  const auto address = endpoint.substr(tcp.size());
  const auto colon = address.rfind(':');
  if (colon == std::string_view::npos) return false;
  const auto host = address.substr(0, colon);
  const auto port = address.substr(colon + 1);
  return (host == "*" || host_valid(host)) && (port == "*" || port_valid(port));
}

bool endpoint_has_free_port(std::string_view endpoint) {
  if (endpoint.substr(0, 6) == "ipc://") return false;
  const auto port = endpoint.substr(endpoint.rfind(':') + 1);
  return port.find_first_not_of('0') == std::string_view::npos || port == "*";
}

bool endpoint_only_binds(std::string_view endpoint) {
  return endpoint_has_free_port(endpoint) || endpoint.substr(0, 8) == "tcp://*:";
}

bool listen_valid(std::string_view listen) {
  const auto colon = listen.rfind(':');
  return colon != std::string_view::npos && host_valid(listen.substr(0, colon)) &&
         port_valid(listen.substr(colon + 1));
}

}  // namespace pixhist
