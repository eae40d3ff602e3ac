#include "service/agents/run_board.hpp"

#include <cstdio>
#include <ctime>

namespace pixhist {

std::string make_run_id(WallTime t, std::uint32_t number) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(t);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char date[32];
  std::strftime(date, sizeof date, "%Y%m%dT%H%M%SZ", &utc);
  char suffix[16];
  std::snprintf(suffix, sizeof suffix, "-%04u", number);
  return std::string(date) + suffix;
}

}  // namespace pixhist
