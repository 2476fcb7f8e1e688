// Tensors that go from one device to another.
#pragma once
#include <vector>

#include "engine/device/backend.h"
#include "engine/tensor/tensor.h"

namespace terra {

/// A tensor of that device with uninitialised elements, which lies as the other does if that leaves no gaps.
Tensor empty_like_on(const Tensor& t, Device device);
/// The same elements on that device: the tensor itself where it is there, else a copy without gradient history, which
/// lies as the tensor does if that leaves no gaps. Elements that come to the host are there when this returns.
Tensor moved_to(const Tensor& t, Device device);
/// To the CPU.
inline Tensor to_host(const Tensor& t) { return moved_to(t, Device()); }

/// Calls change(void*) with bytes of a device in the host's memory, where it may change them.
template <class F>
void change_on_host(Device device, void* bytes, size_t count, F&& change) {
  if (device.is_cpu()) return change(bytes);
  std::vector<char> here(count);
  backend_of(device).copy_out(here.data(), bytes, count);
  change(static_cast<void*>(here.data()));
  backend_of(device).copy_in(bytes, here.data(), count);
}

/// Waits for what a device has to do; throws Error for what went wrong there.
void synchronize(Device device);

}  // namespace terra
