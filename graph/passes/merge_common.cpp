#include "graph/passes/merge_common.h"

#include <functional>
#include <numeric>
#include <unordered_map>

#include "graph/ir/print.h"

namespace terra::graph {
namespace {

/// Cheap and stable; same_computation decides.
size_t hash_of(const Node& n) {
  size_t h = std::hash<const void*>()(n.op) * 31 + static_cast<size_t>(n.kind);
  for_each_use(n, [&](ValueId id) { h = h * 1000003 + id; });
  return h * 31 + n.args.size();
}

}  // namespace

bool merge_common(Graph& graph) {
  std::vector<ValueId> same(graph.values.size());
  std::iota(same.begin(), same.end(), ValueId{0});
  std::unordered_multimap<size_t, size_t> seen;  // hash -> node
  std::vector<bool> merged(graph.nodes.size(), false);
  bool changed = false;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    Node& node = graph.nodes[n];
    for_each_use(node, [&](ValueId& id) { id = same[id]; });
    if (!node.is_pure() || !node.bodies.empty()) continue;
    const size_t h = hash_of(node);
    bool found = false;
    for (auto [it, end] = seen.equal_range(h); it != end && !found; ++it) {
      Node& first = graph.nodes[it->second];
      if (!same_computation(first, node) || first.results.size() != node.results.size()) continue;
      bool same_metas = true;
      for (size_t r = 0; r < node.results.size(); ++r)
        same_metas &= graph.meta(first.results[r]) == graph.meta(node.results[r]);
      if (!same_metas) continue;
      for (size_t r = 0; r < node.results.size(); ++r) same[node.results[r]] = first.results[r];
      first.checks = first.checks || node.checks;
      merged[n] = found = changed = true;
    }
    if (!found) seen.emplace(h, n);
  }
  if (!changed) return false;
  for (ValueId& id : graph.outputs) id = same[id];
  size_t at = 0;
  std::erase_if(graph.nodes, [&](const Node&) { return merged[at++]; });
  return true;
}

}  // namespace terra::graph
