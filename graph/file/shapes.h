// Whether the values of a graph are what its ops make of their operands.
#pragma once
#include <string>

#include "graph/ir/graph.h"

namespace terra::graph {

/// The first node whose results have another dtype or other sizes than the rule of its op says, as a sentence; or
/// empty. For verified graphs without fused nodes. Graphs that were built from traces follow their rules by the way
/// they are made; what comes from outside may not, and kernels rely on it.
std::string find_shape_violation(const Graph& graph);

}  // namespace terra::graph
