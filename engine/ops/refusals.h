// Operands that few ops take: complex numbers, the integers that PyTorch calls barebones (uint16, uint32, uint64), and
// bcomplex32.
#pragma once
#include "engine/ops/op.h"

namespace terra {

/// Whether the op takes operands of such a dtype. Composites leave it to the ops inside, unless a refusal is listed.
bool takes(const Op& op, DType dtype);
/// Throws what PyTorch says of an op that has nothing for that dtype.
[[noreturn]] void refuse(const Op& op, DType dtype);

}  // namespace terra
