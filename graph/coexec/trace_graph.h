// Everything that iterations of one loop have been seen to do: their traces, merged.
#pragma once
#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "graph/coexec/linear_trace.h"

namespace terra::coexec {

using NodeId = uint32_t;
using RegionId = uint32_t;

/// Where an operand came from, in some trace.
struct Source {
  static constexpr NodeId kOutside = ~0u;
  NodeId node = kOutside;
  uint32_t result = 0;
  uint32_t rounds_back = 0;  ///< of the innermost loop around both; 0: made in the same round

  auto operator<=>(const Source&) const = default;
};

struct Node {
  enum class Kind : uint8_t { Entry, Exit, Op, Loop };
  Kind kind = Kind::Op;
  RegionId region = 0;      ///< that it is in
  IdentityId identity = 0;  ///< of an op
  LoopId loop = 0;          ///< of a loop
  RegionId body = 0;        ///< of a loop: what its rounds do
  /// Of an op. Where an operand had several sources, the way taken decides.
  std::vector<std::vector<Source>> operands = {};
  std::vector<NodeId> next = {}, previous = {};  ///< in the order in which they were first seen
};

/// A directed acyclic graph from an entry to an exit: the iteration, or the body of a loop in it.
struct Region {
  NodeId entry = 0, exit = 0;
  NodeId loop = 0;            ///< whose rounds go through it; none: the iteration
  std::vector<NodeId> nodes;  ///< in the order in which they were first seen, entry and exit first
};

/// Each trace is a way from the entry to the exit. Ways part where traces went on differently, and meet again where
/// they do the same thing at the same place. The rounds of a loop are ways through the body of one node, so that the
/// number of rounds makes no difference. An op that comes again on a way without a loop has a node for each time.
class TraceGraph {
 public:
  TraceGraph();

  /// True when the trace added something: a node, an edge, a source of an operand.
  bool merge(const LinearTrace& trace);

  const Node& node(NodeId id) const { return nodes_[id]; }
  const Region& region(RegionId id) const { return regions_[id]; }
  size_t size() const { return nodes_.size(); }
  static constexpr RegionId kIteration = 0;

 private:
  friend class Walk;

  RegionId add_region();
  NodeId add_node(Node node);
  void add_edge(NodeId from, NodeId to);
  bool leads_to(NodeId from, NodeId to) const;

  std::vector<Node> nodes_;
  std::vector<Region> regions_;
};

/// The graph's edges and the operands of its ops, one node a line.
std::string to_string(const TraceGraph& graph, const std::function<std::string(IdentityId)>& name);

}  // namespace terra::coexec
