#include "service/device_choice.hpp"

#include <fstream>

namespace pixhist {
namespace {

std::string processor_name() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "CPU";
}

std::string found_text(const CudaQuery& cuda) {
  if (cuda.devices.empty()) return cuda.problem;
  std::string text;
  for (const auto& d : cuda.devices)
    text += (text.empty() ? "" : ", ") + std::to_string(d.index) + ": " + d.name + " (sm_" +
            std::to_string(d.compute_major) + std::to_string(d.compute_minor) + ")";
  return text;
}

}  // namespace

DeviceChoice choose_device(const Config& config, const CudaQuery& cuda) {
  const std::string no_twin =
      "this version accumulates on the CPU only; CUDA devices found: " + found_text(cuda);
  if (config.device == DeviceKind::cuda)
    throw DeviceMissing(
        "device.kind is cuda, but " +
        (cuda.devices.empty() ? "no usable CUDA device was found: " + cuda.problem : no_twin) +
        ". Set device.kind to cpu or auto to run without one.");
  if (config.device == DeviceKind::cpu) return {"cpu", processor_name(), "device.kind is cpu"};
  return {"cpu", processor_name(),
          "device.kind is auto and " +
              (cuda.devices.empty() ? "no usable CUDA device was found: " + cuda.problem : no_twin)};
}

}  // namespace pixhist
