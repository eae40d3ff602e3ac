#include "service/config/config.hpp"

namespace pixhist {

HistogramSpec Config::histogram_spec(std::size_t i) const {
  HistogramSpec spec;
  spec.shape = sources.at(i).shape;
  spec.pixel_type = pixel_type;
  spec.axis = axis;
  spec.map = map;
  spec.invalid_values = sources[i].invalid_values;
  return spec;
}

}  // namespace pixhist
