#pragma once
// Text from outside, made fit for a log line, a terminal and an error message.

#include <cstddef>
#include <string>
#include <string_view>

namespace pixhist {

/// ASCII only: control characters, bytes >= 0x7F and therefore every invalid UTF-8 become \xNN. At most
/// `max_bytes` (at least 3) long; what was cut is shown by "..." at the end. Text that is already printable
/// and short enough comes back unchanged.
std::string printable(std::string_view text, std::size_t max_bytes);

/// What nlohmann says about bytes that are not JSON, printable and without its own error number.
std::string json_fault(std::string_view what);

}  // namespace pixhist
