#include <stdexcept>

#include "core/accumulators/pixel_histogram/cuda_typed_filler.cuh"

namespace pixhist {

std::unique_ptr<const CudaFiller> make_mapped_filler(const HistogramSpec& spec) {
  switch (spec.map) {
    case ValueMap::adc: return make_typed_filler<std::uint16_t, float, ValueMap::adc>(spec);
    case ValueMap::gain: return make_typed_filler<std::uint16_t, float, ValueMap::gain>(spec);
    case ValueMap::adc_g0: return make_typed_filler<std::uint16_t, float, ValueMap::adc_g0>(spec);
    case ValueMap::adc_g1: return make_typed_filler<std::uint16_t, float, ValueMap::adc_g1>(spec);
    case ValueMap::adc_g2: return make_typed_filler<std::uint16_t, float, ValueMap::adc_g2>(spec);
    case ValueMap::raw: break;
  }
  throw std::invalid_argument("value map raw has no mapped kernel");
}

}  // namespace pixhist
