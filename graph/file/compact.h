// Makes a graph as small as what it computes.
#pragma once
#include "graph/ir/graph.h"

namespace terra::graph {

/// Drops nodes whose results nobody uses, and numbers the values that remain without gaps, in the order of the list.
void compact(Graph& graph);

}  // namespace terra::graph
