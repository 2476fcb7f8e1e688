// The null device, for tests: host memory behind addresses that nobody may touch, and a queue that is late.
//
// Every block lies in memory that is mapped twice: at the address that the engine gets, where reading faults, and at
// another one that only the thread of the queue knows. So whatever the host reads or writes without a copy, or computes
// with a kernel of the CPU, ends the test program; and what it takes for done although it is still in the queue comes
// out wrong, for new blocks and those given back are filled with a pattern.
#pragma once
#include <map>

#include "engine/device/backend.h"
#include "engine/tensor/tensor.h"

namespace terra::test {

inline constexpr Device kNullDevice{DeviceKind::Private, 0};

/// Registers it at the first call.
const Backend& null_backend();

/// The tensors of an argument.
inline std::span<const View> views_of(const KernelArg& arg) {
  if (arg.kind == KernelArg::Kind::Tensor) return {arg.views, 1};
  return {arg.views, arg.kind == KernelArg::Kind::TensorList ? arg.count : 0};
}

/// The tensor with its whole storage there. Tensors that share memory do so there, for calls with the same `storages`.
Tensor on_null_device(const Tensor& tensor, std::map<Storage*, Ref<Storage>>& storages);
Tensor on_null_device(const Tensor& tensor);

}  // namespace terra::test
