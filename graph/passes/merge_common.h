// Merges nodes that compute the same from the same operands. Effects are never merged.
#pragma once
#include "graph/ir/graph.h"

namespace terra::graph {
bool merge_common(Graph& graph);
}
