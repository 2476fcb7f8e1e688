// Operands that few ops take: complex numbers, the integers that PyTorch calls barebones (uint16, uint32, uint64), and
// bcomplex32.
#pragma once
#include "engine/ops/op.h"

namespace terra {

/// Whether the op takes operands of such a dtype. Composites leave it to the ops inside, unless a refusal is listed.
bool takes(const Op& op, DType dtype);
/// Throws what PyTorch says of an op that has nothing for that dtype.
[[noreturn]] void refuse(const Op& op, DType dtype);
/// Whether the composite is one kernel in PyTorch, which has nothing for integers and bools.
bool refuses_integers(const Op& op);
/// What PyTorch calls the kernel of the op where it says that there is none for a dtype.
std::string kernel_name_of(const Op& op);

}  // namespace terra
