#include "engine/ops/devices.h"

#include <algorithm>
#include <iterator>

#include "engine/errors/errors.h"

namespace terra {
namespace {

/// The ops that take indices of the CPU for tensors of the meta device, where they decide nothing.
constexpr std::string_view kTakeIndices[] = {
    "index", "index_put", "advanced_index", "advanced_index_put", "index_select",      "index_add",
    "take",  "gather",    "take_along_dim", "embedding",          "embedding_forward", "embedding_backward"};

bool takes_indices(const Op& op) {
  return std::find(std::begin(kTakeIndices), std::end(kTakeIndices), op.name) != std::end(kTakeIndices);
}

}  // namespace

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
    if (first->device.is_meta() && t.device.is_cpu() && is_integral(t.dtype, true) && takes_indices(op)) return;
    if (t.device.is_meta() || first->device.is_meta())
      fail(ErrorKind::RuntimeError, "Tensor on device {} is not on the expected device {}!", to_string(t.device),
           to_string(first->device));
    fail(ErrorKind::RuntimeError,
         "Expected all tensors to be on the same device, but found at least two devices, {} and {}!",
         to_string(first->device), to_string(t.device));
  });
  return first->device;
}

}  // namespace terra
