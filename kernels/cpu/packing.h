// Copies a strided view into row-major order.
#pragma once
#include "kernels/abi/view.h"

namespace terra::cpu {

/// Writes the elements of `view` to `out` (room for numel elements of its dtype) in row-major order.
void pack(const View& view, void* out);

}  // namespace terra::cpu
