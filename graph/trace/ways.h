// Where gradients pass a tape, and what they free.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "engine/autograd/node.h"
#include "graph/trace/program.h"

namespace terra::graph {

/// Calls visit(node) once for every node that the history leads to, itself included. Null: for none.
void each_node(autograd::Node* history, const std::function<void(autograd::Node&)>& visit);

/// Between results and what gradients are asked of. Frees what the calls there have saved.
PartWays ways_between(std::span<const Tensor> roots, std::span<const Tensor> targets);

}  // namespace terra::graph
