#include "graph/cache/releasable.h"

#include <algorithm>

#include "graph/executor/commit.h"
#include "graph/ir/graph_table.h"

namespace terra::graph {
namespace {

bool is_control(const Node& node) {
  return node.kind == NodeKind::Switch || node.kind == NodeKind::While || node.kind == NodeKind::Call;
}
/// Computed by code of the host, or by code that relies on its lock: what isn't a kernel, but for plain draws.
bool is_of_host(const Node& node) {
  return node.kind == NodeKind::HostCall ||
         (node.is_op(kHost | kRandom) && (!node.is_op(kRandom) || node.is_op(kChecksValues)));
}

/// True iff one that `wanted` is true of is in the graph, a nested one or one that is called.
bool has_node(const Graph& graph, bool (*wanted)(const Node&)) {
  return any_graph(graph, [&](const Graph& g) { return std::any_of(g.nodes.begin(), g.nodes.end(), wanted); });
}

/// Integers among the graph inputs, but for those that are only computed with element by element.
std::vector<size_t> inputs_relied_on(const Program& program, const Graph& graph) {
  std::vector<ValueId> root(graph.values.size());
  for (ValueId v = 0; v < root.size(); ++v) root[v] = v;
  std::vector<bool> relied_on(graph.values.size(), false);
  const auto checks = [](const Node& n) { return n.is_op(kChecksValues); };
  for (const Node& node : graph.nodes) {
    if (node.is_op(kView)) {
      for (ValueId result : node.results) root[result] = root[std::get<Use>(node.args[0]).id];
      continue;
    }
    const bool by_element =
        is_elementwise_node(node) && !checks(node) &&
        std::none_of(node.bodies.begin(), node.bodies.end(), [&](const auto& body) { return has_node(*body, checks); });
    if (!by_element) for_each_use(node, [&](ValueId id) { relied_on[root[id]] = true; });
  }
  std::vector<size_t> found;
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    const ValueMeta& meta = graph.meta(graph.inputs[i]);
    if (program.inputs[i].kind == InputBinding::Kind::Tensor && relied_on[graph.inputs[i]] && !is_inexact(meta.dtype))
      found.push_back(i);
  }
  return found;
}

bool writes_any(const Program& program, const std::vector<size_t>& inputs) {
  return std::any_of(program.writes.begin(), program.writes.end(), [&](const StorageWrite& w) {
    return std::any_of(inputs.begin(), inputs.end(),
                       [&](size_t i) { return program.inputs[i].index == program.inputs[w.input].index; });
  });
}

}  // namespace

Releasable::Releasable(const Program& program, const Graph& graph)
    : copied(inputs_relied_on(program, graph)), varies(has_node(graph, is_control)) {
  at_all = !has_node(graph, is_of_host) && !writes_any(program, copied);
}

}  // namespace terra::graph
