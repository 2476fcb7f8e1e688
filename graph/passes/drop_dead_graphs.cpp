#include "graph/passes/drop_dead_graphs.h"

#include <unordered_set>

#include "graph/ir/graph_table.h"

namespace terra::graph {

bool drop_dead_graphs(Graph& graph) {
  if (!graph.table) return false;
  std::unordered_set<const Graph*> called;
  any_graph(graph, [&](const Graph& g) {
    called.insert(&g);
    return false;
  });
  auto live = std::make_shared<GraphTable>(*graph.table);
  size_t kept = 0, dropped = 0;
  for (GraphId id = 0; id < live->size(); ++id) {
    const Graph* callee = live->find(id);
    if (!callee) continue;
    const bool is_called = called.count(callee) > 0;
    ++(is_called ? kept : dropped);
    if (!is_called) live->drop(id);
  }
  if (dropped) graph.table = kept ? std::move(live) : nullptr;
  return dropped > 0;
}

}  // namespace terra::graph
