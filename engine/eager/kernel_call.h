// From op arguments to a kernel call on real memory.
#pragma once
#include <span>
#include <vector>

#include "engine/ops/op.h"
#include "kernels/abi/kernel.h"

namespace terra::eager {

/// Launches the kernel of `op` on tensors of one device: `outs` are written, whatever their strides. Throws Error for
/// what the element values forbid and when the op has no kernel for these dtypes. `outs` that nobody else knows,
/// contiguous ones, may be `fresh`: then a long call may let other threads go on (long_call.h).
void run_kernel(const Op& op, std::span<const Arg> args, std::span<const View> outs, Device device, bool fresh = false);

/// The dtype in which an elementwise kernel computes operands that are all numbers: what they were promoted to.
DType dtype_of_numbers(const Op& op, std::span<const Arg> args);

/// The kernel of an op on a device; on the CPU at this machine's best instruction set (or the reference loops, if
/// chosen). Throws Error if none.
const Kernel& kernel_of(const Op& op, Device device);

/// Runs everything by the slow reference loops from now on: the oracle of the tests.
void use_reference_kernels(bool yes);

}  // namespace terra::eager
