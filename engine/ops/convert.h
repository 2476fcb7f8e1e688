// Copies: the same values in another dtype or other memory.
#pragma once
#include "engine/ops/op.h"

namespace terra {

/// Tells the user, once, that complex numbers lose their imaginary parts where they become real ones.
void warn_of_lost_parts(DType from, DType to);

namespace ops {

extern const Op to_dtype, type_as, copy, clone, contiguous, named, fill, fill_tensor, zero;

}  // namespace ops
}  // namespace terra
