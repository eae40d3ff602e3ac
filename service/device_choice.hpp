#pragma once
// Which device accumulates: what the configuration asks for against what is there.

#include <stdexcept>

#include "core/memory/device_query.hpp"
#include "service/config/config.hpp"
#include "service/status/service_view.hpp"

namespace pixhist {

/// The device asked for is not there. Exit code 3.
class DeviceMissing : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Pure: cpu_threads as resolved, `cuda` as found. Throws DeviceMissing saying what was asked for and found.
DeviceChoice choose_device(const Config& config, const CudaQuery& cuda);

}  // namespace pixhist
