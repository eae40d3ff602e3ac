#include "service/device_choice.hpp"

#include <doctest/doctest.h>

using namespace pixhist;

namespace {

Config config_for(DeviceKind kind, std::uint32_t index = 0) {
  Config config;
  config.device = kind;
  config.device_index = index;
  return config;
}

std::string refusal(const Config& config, const CudaQuery& cuda) {
  try {
    choose_device(config, cuda);
  } catch (const DeviceMissing& e) {
    return e.what();
  }
  return "";
}

const CudaQuery two_cards{true, {{0, "Old", 7, 0, 1U << 30}, {1, "New", 9, 0, 1U << 30}}, ""};
const CudaQuery old_driver{true, {}, "cudaErrorInsufficientDriver: too old (driver supports CUDA 12.4)"};

}  // namespace

TEST_CASE("auto takes the card named by device.index if it is usable, else the CPU, and says why") {
  CHECK(choose_device(config_for(DeviceKind::automatic, 1), two_cards).kind == "cuda");
  CHECK(choose_device(config_for(DeviceKind::automatic, 1), two_cards).name == "New");
  const auto too_old = choose_device(config_for(DeviceKind::automatic, 0), two_cards);
  CHECK(too_old.kind == "cpu");
  CHECK(too_old.reason.find("0: Old (sm_70)") != std::string::npos);
  const auto no_driver = choose_device(config_for(DeviceKind::automatic), old_driver);
  CHECK(no_driver.kind == "cpu");
  CHECK(no_driver.reason.find("driver supports CUDA 12.4") != std::string::npos);
}

TEST_CASE("cpu stays with the CPU whatever there is") {
  CHECK(choose_device(config_for(DeviceKind::cpu), two_cards).kind == "cpu");
}

TEST_CASE("cuda insists: no device, an old driver, an old card, an index that is not there") {
  CHECK(choose_device(config_for(DeviceKind::cuda, 1), two_cards).kind == "cuda");
  CHECK(refusal(config_for(DeviceKind::cuda), old_driver).find("driver supports CUDA 12.4") !=
        std::string::npos);
  CHECK(refusal(config_for(DeviceKind::cuda, 0), two_cards).find("older than compute capability 7.5") !=
        std::string::npos);
  CHECK(refusal(config_for(DeviceKind::cuda, 2), two_cards).find("1: New (sm_90)") != std::string::npos);
}
