// The tiled interpreter of fused groups.
//
// All steps of a group run over one iteration space, in tiles that stay in the L1 cache: a tile of every value in
// between is computed by the same inner loop that eager execution uses (kernels/abi/kernel.h: the value of an element
// doesn't depend on where loops are split), so fused and eager results are equal bit for bit.
#pragma once
#include <memory>

#include "kernels/abi/fused.h"

namespace terra::cpu {

/// Throws KernelError if a step's kernel has no loop for its dtype.
std::unique_ptr<FusedKernel> prepare_fused(const FusedGroup& group);

}  // namespace terra::cpu
