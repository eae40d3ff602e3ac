#pragma once
// The subcommands of pixhist-player. Each adds its options; what it returns is run once they have been
// parsed, and gives the exit code.

#include <CLI/CLI.hpp>
#include <atomic>
#include <functional>
#include <string>

namespace pixhist {

namespace player_exit {
inline constexpr int done = 0;
inline constexpr int output = 1;       // the report could not be written
inline constexpr int usage = 2;        // or a recording that cannot be read or written
inline constexpr int not_flushed = 3;  // not all of it was handed over within the linger time
inline constexpr int socket = 4;
}  // namespace player_exit

using PlayerCommand = std::function<int(std::atomic<bool>& stop)>;

/// Options of the bare command: a simulated detector.
PlayerCommand add_play_command(CLI::App& app);

/// Options of `replay` and `record`.
PlayerCommand add_replay_command(CLI::App& app);
PlayerCommand add_record_command(CLI::App& app);

/// A whole number that fits 64 bits: CLI11 itself reads -1 as 2^64 - 1.
const CLI::Validator& whole_number();

/// A number from 0 to 10^9, as rates and times are: CLI11's own ranges let "nan" pass.
const CLI::Validator& amount();

/// Writes a report to stdout as a line.
int print_report(const std::string& json, bool flushed);

}  // namespace pixhist
