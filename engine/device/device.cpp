#include "engine/device/device.h"

namespace terra {

std::string to_string(Device device) {
  const std::string name(kDeviceKindNames[static_cast<int>(device.kind)]);
  return device.is_cpu() || device.is_meta() ? name : name + ":" + std::to_string(device.index);
}

}  // namespace terra
