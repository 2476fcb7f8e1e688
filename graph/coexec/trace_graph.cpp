#include "graph/coexec/trace_graph.h"

#include <algorithm>

#include "graph/coexec/walk.h"

namespace terra::coexec {

TraceGraph::TraceGraph() { add_region(); }

RegionId TraceGraph::add_region() {
  const auto id = static_cast<RegionId>(regions_.size());
  regions_.emplace_back();
  regions_[id].entry = add_node({.kind = Node::Kind::Entry, .region = id});
  regions_[id].exit = add_node({.kind = Node::Kind::Exit, .region = id});
  return id;
}

NodeId TraceGraph::add_node(Node node) {
  const auto id = static_cast<NodeId>(nodes_.size());
  regions_[node.region].nodes.push_back(id);
  nodes_.push_back(std::move(node));
  return id;
}

void TraceGraph::add_edge(NodeId from, NodeId to) {
  nodes_[from].next.push_back(to);
  nodes_[to].previous.push_back(from);
}

bool TraceGraph::leads_to(NodeId from, NodeId to) const {
  std::vector<bool> seen(nodes_.size());
  std::vector<NodeId> open = {from};
  while (!open.empty()) {
    const NodeId at = open.back();
    open.pop_back();
    if (at == to) return true;
    if (seen[at]) continue;
    seen[at] = true;
    open.insert(open.end(), nodes_[at].next.begin(), nodes_[at].next.end());
  }
  return false;
}

bool TraceGraph::merge(const LinearTrace& trace) {
  Walk walk(*this, Walk::Grow{});
  for (const Record& record : trace) walk.advance(record);
  walk.finish();
  return walk.has_added();
}

}  // namespace terra::coexec
