// Graphs as text, one node a line; parse.h reads it back.
#pragma once
#include <string>

#include "graph/ir/graph.h"

namespace terra::graph {

/// Constants are numbered in the order in which they are met, nested graphs included. The graphs of its table follow,
/// as `graph @name(...)`. `origins` adds "# file:line" to each node that knows it.
std::string print(const Graph& graph, bool origins = true);
/// One argument as the text form has it.
std::string print_arg(const NodeArg& arg);

/// The constants by the numbers that the text has for them.
std::vector<Tensor> constants_of(const Graph& graph);

}  // namespace terra::graph
