#include "service/device_choice.hpp"

#include <algorithm>
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
  std::string text;
  for (const auto& d : cuda.devices)
    text += (text.empty() ? "" : ", ") + std::to_string(d.index) + ": " + d.name + " (sm_" +
            std::to_string(d.compute_major) + std::to_string(d.compute_minor) + ")";
  return text;
}

/// What the kernels are compiled for: Turing and newer.
bool is_supported(const CudaDevice& d) { return d.compute_major * 10 + d.compute_minor >= 75; }

}  // namespace

DeviceChoice choose_device(const Config& config, const CudaQuery& cuda) {
  if (config.device == DeviceKind::cpu) return {"cpu", processor_name(), "device.kind is cpu"};
  const bool asked_for = config.device == DeviceKind::cuda;
  const auto usable = std::find_if(cuda.devices.begin(), cuda.devices.end(), [&](const CudaDevice& d) {
    return d.index == static_cast<int>(config.device_index) && is_supported(d);
  });
  if (usable != cuda.devices.end())
    return {"cuda", usable->name,
            asked_for ? "device.kind is cuda" : "device.kind is auto and the device is usable"};
  const std::string found =
      cuda.devices.empty()
          ? "no usable CUDA device was found: " + cuda.problem
          : "device " + std::to_string(config.device_index) +
                " is not there or older than compute capability 7.5; found: " + found_text(cuda);
  if (asked_for)
    throw DeviceMissing("device.kind is cuda, but " + found +
                        ". Set device.kind to cpu or auto to run without one.");
  return {"cpu", processor_name(), "device.kind is auto and " + found};
}

}  // namespace pixhist
