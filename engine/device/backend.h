// A backend: what a device does for the engine, as one table of functions.
//
// The engine and graphs know devices by these tables alone. Memory of a device is read and written by kernels that are
// launched on it, and by copies: its addresses mean nothing to the host. What is launched may still be to be done when
// the call returns; all of it is done in order, copies included.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "engine/device/device.h"
#include "kernels/abi/distances.h"
#include "kernels/abi/draws.h"
#include "kernels/abi/fused.h"
#include "kernels/abi/kernel.h"
#include "kernels/abi/linear_algebra.h"

namespace terra {

/// The libraries that ops call whose rule the host computes.
struct Libraries {
  LinearAlgebraLibrary linear_algebra;
  DrawLibrary draws;
  DistanceLibrary distances;
};

struct Backend {
  std::string_view name;  ///< "CPU", as messages say it

  // ---- memory: of at least so many bytes, on a cache line; given back with the same number
  void* (*allocate)(size_t bytes);
  void (*release)(void* block, size_t bytes) noexcept;
  /// Bytes from and to the host's memory. The first may be read, and the second is written, when the call returns.
  void (*copy_in)(void* to, const void* host, size_t bytes);
  void (*copy_out)(void* host, const void* from, size_t bytes);
  /// Bytes of the device from one place to another.
  void (*copy)(void* to, const void* from, size_t bytes);
  void (*clear)(void* to, size_t bytes);  ///< to zeros

  // ---- kernels
  /// Null if there is none of that op.
  const Kernel* (*find_kernel)(std::string_view op);
  /// A kernel that runs whole. The call is the caller's again when this returns.
  void (*launch)(const Kernel& kernel, const KernelCall& call);
  /// An elementwise kernel: out[i] = kernel(inputs[i]...) with the inputs broadcast to `out`. `params` are the
  /// op's arguments in signature order; only attributes are read. `out` may have any strides and may be exactly one of
  /// the inputs.
  void (*launch_elementwise)(const Kernel& kernel, const View& out, std::span<const View> inputs,
                             std::span<const KernelArg> params);
  std::unique_ptr<FusedKernel> (*prepare_fused)(const FusedGroup& group);

  /// Returns when all that was launched is done. Throws what a kernel has thrown.
  void (*synchronize)();
};

const Backend& cpu_backend();
/// Of tensors without elements: there is no memory, what is launched does nothing, and reading fails.
const Backend& meta_backend();
/// Null where a device has none.
const Backend* find_backend(Device device);
namespace detail {
const Backend& backend_elsewhere(Device device);
}
/// Throws Error where a device has none.
inline const Backend& backend_of(Device device) {
  if (device.is_cpu()) [[likely]]
    return cpu_backend();
  return detail::backend_elsewhere(device);
}
/// Of a device that the engine doesn't know; to be called before any of its tensors is made.
void register_backend(Device device, const Backend& backend);

/// Those of the host.
const Libraries& libraries();

}  // namespace terra
