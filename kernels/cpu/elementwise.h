// Runs the inner loop of an elementwise kernel over whole operands.
#pragma once
#include <span>

#include "kernels/abi/kernel.h"

namespace terra::cpu {

/// out[i] = kernel(inputs[i]...) with the inputs broadcast to `out`. Numbers among the operands have been boxed as 0-d
/// views. `params` are the op's arguments in signature order; only attributes are read. `out` may have any strides and
/// may be exactly one of the inputs. Operands of 16 bits that the kernel has no loop for are computed in f32. Throws
/// KernelError if the kernel has no loop for the operands' dtype.
void run_elementwise(const Kernel& kernel, const View& out, std::span<const View> inputs, const KernelArg* params);

/// The dtype that picks the loop: that of the *last* operand, since `where` and `masked_fill` begin with other things.
inline DType loop_dtype(std::span<const View> inputs) { return inputs.back().dtype; }

/// The loop for that dtype, or a KernelError that says which op and dtype lack one.
ElementwiseLoop loop_of(const Kernel& kernel, DType dtype);

}  // namespace terra::cpu
