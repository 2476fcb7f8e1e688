// What an iteration may do next, seen from one op: without a look at which loop it is in, or in which round.
#pragma once
#include <vector>

#include "graph/coexec/trace_graph.h"

namespace terra::coexec {

struct Successor {
  NodeId op = 0;
  bool next_iteration = false;  ///< the iteration is over, and this is where another one begins
};

/// The ops that ways through the graph come to behind this node, in the order in which they were first seen: inside of
/// a loop that begins, in another round of one that is under way, behind it, in the next iteration. The entry of the
/// iteration is a node, too.
std::vector<Successor> successors(const TraceGraph& graph, NodeId node);

}  // namespace terra::coexec
