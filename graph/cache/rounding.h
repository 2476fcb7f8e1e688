// Results of batches against those of single runs.
#pragma once
#include "engine/tensor/tensor.h"

namespace terra::graph {

/// The engine checks itself. TERRA_SELF_CHECK=off: no batch is looked at.
inline constinit bool checks_batches = true;

/// Whether elements are the same but for the order in which sums were made. `batched` has those of `plain` row by row.
bool is_same_but_for_rounding(const Tensor& plain, const void* batched);

}  // namespace terra::graph
