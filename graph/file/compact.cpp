#include "graph/file/compact.h"

#include "graph/passes/drop_dead_code.h"

namespace terra::graph {

void compact(Graph& graph) {
  drop_dead_code(graph);
  std::vector<ValueId> numbers(graph.values.size(), kNoId);
  std::vector<ValueMeta> values;
  const auto define = [&](ValueId& id) {
    numbers[id] = static_cast<ValueId>(values.size());
    values.push_back(std::move(graph.values[id]));
    id = numbers[id];
  };
  for (ValueId& id : graph.inputs) define(id);
  for (auto& [id, tensor] : graph.constants) define(id);
  for (Node& node : graph.nodes) {
    for_each_use(node, [&](ValueId& id) { id = numbers[id]; });
    for (ValueId& id : node.results) define(id);
  }
  for (ValueId& id : graph.outputs) id = numbers[id];
  graph.values = std::move(values);
}

}  // namespace terra::graph
