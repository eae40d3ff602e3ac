#pragma once
// The faults of an accelerator, for code that knows nothing of its make.

#include <cstddef>
#include <stdexcept>
#include <string>

namespace pixhist {

/// The device failed. Sticky: nothing on it can be trusted from here on.
class DeviceLost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The device has not as much memory as is needed. No fault: what was asked for is not done, the rest goes
/// on.
class DeviceMemoryError : public std::runtime_error {
 public:
  DeviceMemoryError(std::size_t needed, std::size_t available)
      : std::runtime_error("the device needs " + std::to_string(needed) + " more bytes and has " +
                           std::to_string(available) + " free"),
        needed_(needed),
        available_(available) {}
  std::size_t needed() const { return needed_; }
  std::size_t available() const { return available_; }

 private:
  std::size_t needed_;
  std::size_t available_;
};

}  // namespace pixhist
