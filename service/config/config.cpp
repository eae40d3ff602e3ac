#include "service/config/config.hpp"

#include <algorithm>

namespace pixhist {

std::size_t SourceConfig::masked_pixels() const {
  return mask.size() - static_cast<std::size_t>(std::count(mask.begin(), mask.end(), 0));
}

HistogramSpec Config::histogram_spec(std::size_t i) const {
  HistogramSpec spec;
  spec.shape = sources.at(i).shape;
  spec.pixel_type = pixel_type;
  spec.axis = axis;
  spec.map = map;
  spec.invalid_values = sources[i].invalid_values;
  spec.mask = sources[i].mask;
  spec.mask_missing = sources[i].on_incomplete == OnIncomplete::mask_missing;
  return spec;
}

}  // namespace pixhist
