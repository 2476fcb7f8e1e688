// The ways through a region of a graph of traces as an ordered list of switches.
#pragma once
#include <string>
#include <vector>

#include "graph/coexec/trace_graph.h"

namespace terra::coexec {

struct Edge {
  NodeId from = 0, to = 0;
  friend bool operator==(const Edge&, const Edge&) = default;
};

/// A basic block: nodes that every way which comes to the first goes through one after the other, and the edges by
/// which ways come to it.
struct Case {
  std::vector<NodeId> block;
  std::vector<Edge> entering;
};

/// A way does one of the cases, the one that it enters by its last edge, or passes all of them by.
struct SwitchCase {
  std::vector<Case> cases;
  std::vector<Edge> passing;
};

/// Every node but entry and exit is in one block of one case. Each way through the region is what it does at the
/// switches, in order: a block stands in the switch behind all blocks that ways to it can come through.
std::vector<SwitchCase> assign_cases(const TraceGraph& graph, RegionId region);

/// A switch a line, the bodies of loops behind: "2  b (a) | c d (a) | - (a e)" chooses between two blocks that are
/// entered from a, and passing by from a to e.
std::string draw_cases(const TraceGraph& graph, const std::function<std::string(IdentityId)>& name);

}  // namespace terra::coexec
