#include "core/accumulators/pixel_histogram/cuda_typed_filler.cuh"

namespace pixhist {

std::unique_ptr<const CudaFiller> make_cuda_filler(const HistogramSpec& spec) {
  check(spec);
  if (spec.map != ValueMap::raw) return make_mapped_filler(spec);
  switch (spec.pixel_type) {
    case PixelType::u8: return make_typed_filler<std::uint8_t, float>(spec);
    case PixelType::u16: return make_typed_filler<std::uint16_t, float>(spec);
    case PixelType::i16: return make_typed_filler<std::int16_t, float>(spec);
    case PixelType::u32: return make_typed_filler<std::uint32_t, double>(spec);
    case PixelType::i32: return make_typed_filler<std::int32_t, double>(spec);
    case PixelType::f64: return make_typed_filler<double, double>(spec);
    case PixelType::f32: break;
  }
  if (spec.axis.type == AxisType::f64) return make_typed_filler<float, double>(spec);
  return make_typed_filler<float, float>(spec);
}

std::size_t shared_bytes_per_block() {
  int device = 0;
  int bytes = 0;
  PIXHIST_CUDA_CHECK(cudaGetDevice(&device));
  PIXHIST_CUDA_CHECK(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  return static_cast<std::size_t>(bytes);
}

}  // namespace pixhist
