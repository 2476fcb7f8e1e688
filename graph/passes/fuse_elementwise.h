// Groups elementwise ops with one result shape into fused nodes, which the executor runs tile by tile: intermediate
// values then never leave the cache, and those that only the group reads need no memory at all.
#pragma once
#include "graph/ir/graph.h"

namespace terra::graph {
bool fuse_elementwise(Graph& graph);
}
