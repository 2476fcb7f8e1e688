// Floats of 16 bits as kernels meet them: widened to f32 before, rounded behind.
#pragma once
#include "kernels/cpu/isa.h"

namespace terra::cpu {

/// The conversions between a float of 16 bits and f32, as loops of one operand.
struct HalfLoops {
  ElementwiseLoop widen;
  ElementwiseLoop narrow;
};

TERRA_PER_ISA(const HalfLoops* half_loops(); const HalfLoops* bfloat16_loops();)

/// Those of a dtype; null if it isn't F16 or BF16.
inline const HalfLoops* half_loops_of(DType dtype) {
  return dtype == DType::F16 ? TERRA_PICK(half_loops)() : dtype == DType::BF16 ? TERRA_PICK(bfloat16_loops)() : nullptr;
}

}  // namespace terra::cpu
