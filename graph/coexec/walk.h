// A trace on its way through a graph of traces: matching, and merging where the graph lacks something.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "graph/coexec/trace_graph.h"

namespace terra::coexec {

class Walk {
 public:
  /// At the entry of the iteration.
  explicit Walk(const TraceGraph& graph);
  /// The same, and what the graph lacks is added.
  struct Grow {};
  Walk(TraceGraph& graph, Grow);
  /// The same from a node on, for ops of which nobody says where their operands come from: `loops` are those around the
  /// next record. Loops of the node that are not among them have been left.
  Walk(TraceGraph& graph, Grow, NodeId at, std::span<const LoopRound> loops);

  /// The node that the next record is. None: the graph knows of no such successor, or not with operands from there (a
  /// divergence); the walk stays where it is.
  std::optional<NodeId> advance(const Record& record);
  /// To the exit. False: no trace ended here.
  bool finish();
  /// Back to the entry.
  void restart();

  bool has_added() const { return added_; }

 private:
  /// The walk is at `at` in a region, in this round of the loop whose body the region is.
  struct Place {
    RegionId region;
    NodeId at;
    LoopRound in;
  };
  struct Placed {
    NodeId node;
    std::vector<LoopRound> loops;
  };

  bool step(const Node& to);
  bool leave();
  bool enter_loops(std::span<const LoopRound> loops);
  bool connect(NodeId to);
  NodeId find_or_add(const Node& like);
  bool take_operands(const Record& record);
  Source source(const Operand& operand, const Record& of) const;

  const TraceGraph& graph_;
  TraceGraph* grow_ = nullptr;
  bool added_ = false;
  std::vector<Place> places_;   // outermost first
  std::vector<Placed> placed_;  // by record
};

}  // namespace terra::coexec
