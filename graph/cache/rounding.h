// Results of batches against those of single runs.
#pragma once
#include <bit>
#include <cstdint>

#include "engine/tensor/tensor.h"

namespace terra::graph {

/// The engine checks itself. TERRA_SELF_CHECK=off: no batch is looked at.
inline constinit bool checks_batches = true;

/// The first batch is checked, and each whose number has three bits more than the one before it.
inline bool is_check_due(uint64_t batches) {
  return std::has_single_bit(batches) && std::countr_zero(batches) % 3 == 0;
}
/// Whether elements are the same but for the order in which sums were made. `batched` has those of `plain` row by row.
bool is_same_but_for_rounding(const Tensor& plain, const void* batched);

}  // namespace terra::graph
