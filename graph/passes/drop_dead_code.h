// Removes pure nodes whose results nobody uses, and constants that nobody reads. Effects (random draws, asserts, host
// calls) stay, and what they read.
#pragma once
#include "graph/ir/graph.h"

namespace terra::graph {
/// Ops stay that the program itself called and that may refuse what they see: it may have called them for that.
bool drop_dead_code(Graph& graph);
/// They go as well: another graph has seen the same before.
bool drop_checked_code(Graph& graph);
}  // namespace terra::graph
