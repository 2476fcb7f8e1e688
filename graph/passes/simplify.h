// Applies the algebraic rules of simplify_rules.cpp until none applies.
#pragma once
#include "graph/ir/graph.h"

namespace terra::graph {
bool simplify(Graph& graph);
}
