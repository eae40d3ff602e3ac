#pragma once
// Spoils JSON headers on purpose: text in, text out, on flat headers as our encoders write them.

#include <string>
#include <string_view>

namespace pixhist {

/// Puts `value` (JSON text) in place of what `"key":` holds. Throws std::logic_error if the key is not there.
void replace_value(std::string& header, std::string_view key, std::string_view value);

/// Takes `"key":value` out, and the comma that sets it off.
void remove_key(std::string& header, std::string_view key);

/// Puts blanks behind the opening brace until the header has `bytes` bytes: the same JSON, but longer.
void pad_header(std::string& header, std::size_t bytes);

}  // namespace pixhist
