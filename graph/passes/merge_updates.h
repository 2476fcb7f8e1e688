// Merges optimizer updates of single parameters into one update of lists: one kernel call, one pass of the pool over
// all parameters. Updates are merged that agree in op and attributes and whose results only leave the graph.
#pragma once
#include "graph/ir/graph.h"

namespace terra::graph {
bool merge_updates(Graph& graph);
}
