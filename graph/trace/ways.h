// Where gradients pass a tape, and what they free.
#pragma once
#include <span>
#include <vector>

#include "engine/tensor/tensor.h"
#include "graph/trace/program.h"

namespace terra::graph {

/// Between results and what gradients are asked of. Frees what the calls there have saved.
PartWays ways_between(std::span<const Tensor> roots, std::span<const Tensor> targets);

}  // namespace terra::graph
