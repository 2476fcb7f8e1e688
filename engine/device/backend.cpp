#include "engine/device/backend.h"

#include "engine/errors/errors.h"

namespace terra {
namespace {

/// The CPU and the meta device have one whatever their index.
const Backend* others[kDeviceKinds][kDevicesOfKind] = {};

}  // namespace

void register_backend(Device device, const Backend& backend) {
  ensure(!device.is_cpu() && !device.is_meta() && device.index < kDevicesOfKind,
         "another backend is one of a device that the engine doesn't know");
  others[static_cast<int>(device.kind)][device.index] = &backend;
}

const Backend* find_backend(Device device) {
  if (device.is_cpu()) return &cpu_backend();
  if (device.is_meta()) return &meta_backend();
  return device.index < kDevicesOfKind ? others[static_cast<int>(device.kind)][device.index] : nullptr;
}

const Backend& detail::backend_elsewhere(Device device) {
  const Backend* found = find_backend(device);
  check(found != nullptr, "There is no device '{}' here.", to_string(device));
  return *found;
}

}  // namespace terra
