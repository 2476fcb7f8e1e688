// Which floats of 16 bits an op is given as they are, rather than converted to what kernels compute in.
#pragma once
#include "engine/ops/op.h"

namespace terra {

/// The kernel takes bfloat16 as it is, though it computes in more: there are instructions that multiply it.
inline constexpr uint32_t kTakesBFloat16 = 1u << 30;

inline bool takes_as_it_is(const Op& op, DType half) {
  return op.is(kMovesBytes | kView) || (op.is(kTakesBFloat16) && half == DType::BF16);
}

}  // namespace terra
