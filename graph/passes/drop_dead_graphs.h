// Removes the graphs of the table that neither the graph nor anything that it calls has a call of. Ids stay as they
// are.
#pragma once
#include "graph/ir/graph.h"

namespace terra::graph {
bool drop_dead_graphs(Graph& graph);
}
