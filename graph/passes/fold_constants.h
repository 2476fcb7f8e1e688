// Computes pure nodes all of whose operands are constants, once, by eager execution; large results are left to the run,
// where their memory is the arena's.
#pragma once
#include "graph/ir/graph.h"

namespace terra::graph {
bool fold_constants(Graph& graph);
}
