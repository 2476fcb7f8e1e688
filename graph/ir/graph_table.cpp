#include "graph/ir/graph_table.h"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "engine/errors/errors.h"

namespace terra::graph {

GraphId GraphTable::declare(std::string_view name) {
  std::string unique(name);
  for (int n = 2; id_of(unique) != kNoId; ++n) unique = fmt::format("{}.{}", name, n);
  entries_.push_back({std::move(unique), nullptr});
  return size() - 1;
}

void GraphTable::define(GraphId id, Graph graph) {
  graph.name = entries_[id].name;
  graph.table = nullptr;  // it stands in this one
  entries_[id].graph = std::make_shared<const Graph>(std::move(graph));
}

GraphId GraphTable::add(Graph graph) {
  const GraphId id = declare(graph.name);
  define(id, std::move(graph));
  return id;
}

const Graph& GraphTable::at(GraphId id) const {
  if (const Graph* graph = find(id)) return *graph;
  throw InternalError(id < size() ? fmt::format("graph \"{}\" is called, and was never defined", entries_[id].name)
                                  : fmt::format("graph number {} is called, of a table of {}", id, size()));
}

GraphId GraphTable::id_of(std::string_view name) const {
  for (GraphId id = 0; id < size(); ++id)
    if (entries_[id].name == name) return id;
  return kNoId;
}

bool any_graph(const Graph& graph, const std::function<bool(const Graph&)>& f, const GraphTable* table) {
  if (!table) table = graph.table.get();
  std::unordered_set<const Graph*> met = {&graph};
  std::vector<const Graph*> open = {&graph};
  while (!open.empty()) {
    const Graph& g = *open.back();
    open.pop_back();
    if (f(g)) return true;
    const auto meet = [&](const Graph* other) {
      if (other && met.insert(other).second) open.push_back(other);
    };
    for (const Node& node : g.nodes) {
      for (const auto& body : node.bodies) meet(body.get());
      if (node.kind == NodeKind::Call && table) meet(table->find(node.index));
    }
  }
  return false;
}

bool has_effects(const Graph& graph, const GraphTable* table) {
  return any_graph(
      graph,
      [](const Graph& g) {
        return std::any_of(g.nodes.begin(), g.nodes.end(), [](const Node& n) { return !n.is_pure(); });
      },
      table);
}

}  // namespace terra::graph
