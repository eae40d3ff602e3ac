#include "core/snapshot/cut.hpp"

namespace pixhist {

std::uint64_t Cut::frames() const {
  std::uint64_t n = 0;
  for (const auto& source : sources) n += source.frames;
  return n;
}

std::uint64_t Cut::saturated() const {
  std::uint64_t n = 0;
  for (const auto& source : sources) n += source.saturated;
  return n;
}

}  // namespace pixhist
