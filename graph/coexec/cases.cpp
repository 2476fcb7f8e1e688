#include "graph/coexec/cases.h"

#include <algorithm>
#include <unordered_map>

namespace terra::coexec {
namespace {

class Assignment {
 public:
  Assignment(const TraceGraph& graph, const Region& region) : graph_(graph), region_(region) {}

  std::vector<SwitchCase> make() {
    find_levels();
    std::vector<SwitchCase> switches(level_[region_.exit] - 1);
    for (NodeId id : region_.nodes) {
      if (starts_block(id)) switches[level_[id] - 1].cases.push_back(block_from(id));
      for (NodeId to : graph_.node(id).next) {
        for (size_t level = level_[id] + 1; level < level_[to]; level++)
          switches[level - 1].passing.push_back({id, to});
      }
    }
    return switches;
  }

 private:
  bool is_inside(NodeId id) const { return id != region_.entry && id != region_.exit; }
  bool starts_block(NodeId id) const {
    if (!is_inside(id)) return false;
    const auto& previous = graph_.node(id).previous;
    return previous.size() != 1 || previous[0] == region_.entry || graph_.node(previous[0]).next.size() != 1;
  }

  Case block_from(NodeId first) const {
    Case made;
    for (NodeId from : graph_.node(first).previous) made.entering.push_back({from, first});
    NodeId at = first;
    for (;;) {
      made.block.push_back(at);
      const auto& next = graph_.node(at).next;
      if (next.size() != 1 || !is_inside(next[0]) || starts_block(next[0])) return made;
      at = next[0];
    }
  }

  /// Of a node: the most blocks that a way to it goes through, its own included. The entry has none, the exit counts as
  /// one.
  void find_levels() {
    std::unordered_map<NodeId, size_t> ways_to_come;
    std::vector<NodeId> ready = {region_.entry};
    while (!ready.empty()) {
      const NodeId id = ready.back();
      ready.pop_back();
      size_t& level = level_[id];
      for (NodeId from : graph_.node(id).previous) level = std::max(level, level_[from]);
      if (starts_block(id) || id == region_.exit) level++;
      for (NodeId to : graph_.node(id).next) {
        if (++ways_to_come[to] == graph_.node(to).previous.size()) ready.push_back(to);
      }
    }
  }

  const TraceGraph& graph_;
  const Region& region_;
  std::unordered_map<NodeId, size_t> level_;
};

}  // namespace

std::vector<SwitchCase> assign_cases(const TraceGraph& graph, RegionId region) {
  return Assignment(graph, graph.region(region)).make();
}

}  // namespace terra::coexec
