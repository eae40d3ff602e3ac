#pragma once
// One value against its field: type, range, form, and whether it is built.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "service/config/config_fields.hpp"

namespace pixhist {

/// Nothing if the value is allowed, else what is: "allowed: an integer from 1 to 65536".
std::optional<std::string> refusal(const ConfigField& field, const nlohmann::ordered_json& value);

/// A value of the command line or the environment: as JSON if it is JSON of a type the field takes, else as
/// text. So --set log.file=7 names a file, --set sources.0.origin=[0,512] gives a list.
nlohmann::ordered_json value_from_text(const ConfigField& field, std::string_view text);

/// "64MiB", "64 MiB"; nothing for other units, other text or more than 64 bits.
std::optional<std::uint64_t> parse_size(std::string_view text);

/// Bytes of a value that refusal() let pass.
std::uint64_t size_value(const nlohmann::ordered_json& value);

/// tcp://host:port (host may be [IPv6], a name, an interface or *; port 0 or * is one the system chooses) or
/// ipc://path of at most 107 bytes.
bool endpoint_valid(std::string_view endpoint);

/// True if the endpoint can only be bound: any address, or a port the system chooses.
bool endpoint_only_binds(std::string_view endpoint);

/// True if the system chooses the port: never equal to another endpoint.
bool endpoint_has_free_port(std::string_view endpoint);

/// host:port, port 0 to 65535.
bool listen_valid(std::string_view listen);

}  // namespace pixhist
