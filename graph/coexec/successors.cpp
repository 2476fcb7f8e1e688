#include "graph/coexec/successors.h"

#include <utility>

namespace terra::coexec {
namespace {

class Search {
 public:
  explicit Search(const TraceGraph& graph) : graph_(graph), seen_(graph.size()) {}

  void behind(NodeId id, bool next_iteration) {
    for (NodeId to : graph_.node(id).next) arrive(to, next_iteration);
  }

  std::vector<Successor> found;

 private:
  void arrive(NodeId id, bool next_iteration) {
    if (seen_[id]) return;
    seen_[id] = true;
    const Node& node = graph_.node(id);
    switch (node.kind) {
      case Node::Kind::Entry: break;  // nothing leads to one
      case Node::Kind::Op: found.push_back({id, next_iteration}); break;
      case Node::Kind::Loop: behind(graph_.region(node.body).entry, next_iteration); break;
      case Node::Kind::Exit: end_of(node.region); break;
    }
  }

  void end_of(RegionId id) {
    const Region& region = graph_.region(id);
    behind(region.entry, id == TraceGraph::kIteration);
    if (id != TraceGraph::kIteration) behind(region.loop, false);
  }

  const TraceGraph& graph_;
  std::vector<bool> seen_;
};

}  // namespace

std::vector<Successor> successors(const TraceGraph& graph, NodeId node) {
  Search search(graph);
  search.behind(node, false);
  return std::move(search.found);
}

}  // namespace terra::coexec
