// What of a tape is freed by the gradients that pass it.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "engine/autograd/node.h"
#include "graph/trace/program.h"

namespace terra::graph {

/// Calls visit(node) once for every node that the history leads to, itself included. Null: for none.
void each_node(autograd::Node* history, const std::function<void(autograd::Node&)>& visit);

/// The calls between results and what gradients are asked of that have saved something. Frees what they saved.
std::vector<SavingCalls> saving_calls(std::span<const Tensor> roots, std::span<const Tensor> targets);

}  // namespace terra::graph
