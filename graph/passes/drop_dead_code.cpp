#include "graph/passes/drop_dead_code.h"

#include <algorithm>

namespace terra::graph {
namespace {

bool has_effect(const Node& node) { return !node.is_pure(); }

bool has_effect_or_checks(const Node& node) {
  const auto inside = [](const auto& body) {
    return std::any_of(body->nodes.begin(), body->nodes.end(), has_effect_or_checks);
  };
  return has_effect(node) || node.checks || std::any_of(node.bodies.begin(), node.bodies.end(), inside);
}

bool drop(Graph& graph, bool (&stays)(const Node&)) {
  std::vector<bool> live(graph.values.size(), false), keep(graph.nodes.size(), false);
  for (ValueId id : graph.outputs) live[id] = true;
  for (size_t n = graph.nodes.size(); n-- > 0;) {
    const Node& node = graph.nodes[n];
    keep[n] = stays(node) || std::any_of(node.results.begin(), node.results.end(), [&](ValueId r) { return live[r]; });
    if (keep[n]) for_each_use(node, [&](ValueId id) { live[id] = true; });
  }
  const size_t before = graph.nodes.size() + graph.constants.size();
  size_t at = 0;
  std::erase_if(graph.nodes, [&](const Node&) { return !keep[at++]; });
  return graph.nodes.size() + graph.constants.size() != before;
}

}  // namespace

bool drop_dead_code(Graph& graph) { return drop(graph, has_effect_or_checks); }

bool drop_checked_code(Graph& graph) { return drop(graph, has_effect); }

}  // namespace terra::graph
