// Putting the nodes of a graph back into a legal order.
#pragma once
#include "graph/ir/graph.h"

namespace terra::graph {

/// Moves each node behind those that make its operands and behind the one that stood before it in its chain; the others
/// stay in their order. Throws InternalError where nodes wait for each other.
void restore_order(Graph& graph);

}  // namespace terra::graph
