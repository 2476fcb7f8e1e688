// Removes pure nodes whose results nobody uses, and constants that nobody reads. Effects (random draws, asserts, host
// calls) stay, and what they read.
#pragma once
#include "graph/ir/graph.h"

namespace terra::graph {
bool drop_dead_code(Graph& graph);
}
