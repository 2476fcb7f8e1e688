#include "graph/passes/drop_dead_code.h"

#include <algorithm>

namespace terra::graph {

bool drop_dead_code(Graph& graph) {
  std::vector<bool> live(graph.values.size(), false), keep(graph.nodes.size(), false);
  for (ValueId id : graph.outputs) live[id] = true;
  for (size_t n = graph.nodes.size(); n-- > 0;) {
    const Node& node = graph.nodes[n];
    keep[n] =
        !node.is_pure() || std::any_of(node.results.begin(), node.results.end(), [&](ValueId r) { return live[r]; });
    if (keep[n]) for_each_use(node, [&](ValueId id) { live[id] = true; });
  }
  const size_t before = graph.nodes.size() + graph.constants.size();
  size_t at = 0;
  std::erase_if(graph.nodes, [&](const Node&) { return !keep[at++]; });
  return graph.nodes.size() + graph.constants.size() != before;
}

}  // namespace terra::graph
