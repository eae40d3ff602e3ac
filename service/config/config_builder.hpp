#pragma once
// From the document of all keys, each checked alone, to the typed configuration, and back.

#include <nlohmann/json.hpp>

#include "service/config/config.hpp"

namespace pixhist {

/// `document` holds every key of the table with an allowed value. Resolves nulls.
Config build_config(const nlohmann::ordered_json& document);

/// The same document with what build_config() resolved in place of nulls, and sizes in their shortest form.
nlohmann::ordered_json resolved_document(const nlohmann::ordered_json& document, const Config& config);

}  // namespace pixhist
