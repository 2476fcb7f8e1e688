#include "engine/ops/devices.h"

#include "engine/errors/errors.h"

namespace terra {

Device device_of(const Op& op, std::span<const Arg> args) {
  bool any = false, elsewhere = false;
  each_tensor(args, [&](const TensorImpl& t) {
    any = true;
    elsewhere |= !t.device.is_cpu();
  });
  if (!any) return current_device();
  if (!elsewhere) [[likely]]
    return {};
  static const Op* const copy = find_op("copy");  // from anywhere to anywhere
  if (&op == copy) return args[0].impl()->device;
  const TensorImpl* first = nullptr;
  each_tensor(args, [&](const TensorImpl& t) {
    if (t.device.is_cpu() && t.sizes.empty()) return;
    if (!first) first = &t;
    if (t.device == first->device) return;
    fail(ErrorKind::RuntimeError,
         "Expected all tensors to be on the same device, but found at least two devices, {} and {}!",
         to_string(first->device), to_string(t.device));
  });
  return first->device;
}

}  // namespace terra
