#include "graph/ir/graph.h"

#include <cstring>

#include "graph/ir/graph_table.h"

namespace terra::graph {

ValueId Graph::add_input(ValueMeta meta, std::string input_name) {
  const ValueId id = add_value(std::move(meta));
  inputs.push_back(id);
  input_names.resize(inputs.size());
  input_names.back() = std::move(input_name);
  return id;
}

ValueId Graph::add_constant(Tensor tensor) {
  const ValueId id = add_value(ValueMeta::tensor(tensor.dtype(), tensor.sizes(), tensor.device()));
  constants.emplace_back(id, std::move(tensor));
  return id;
}

Node new_op(Graph& graph, std::string_view op, std::vector<NodeArg> args, ValueMeta result, int32_t origin) {
  Node node;
  node.op = find_op(op);
  node.origin = origin;
  args.resize(node.op->sig().params.size());
  node.args = std::move(args);
  node.results = {graph.add_value(std::move(result))};
  return node;
}

Node new_cat(Graph& graph, const UseList& parts, size_t dim, int32_t origin) {
  ValueMeta whole = graph.meta(parts[0]);
  whole.sizes[dim] = 0;
  for (ValueId part : parts) whole.sizes[dim] += graph.meta(part).sizes[dim];
  return new_op(graph, "cat", {parts, Scalar(static_cast<int64_t>(dim))}, std::move(whole), origin);
}

std::vector<int32_t> definitions(const Graph& graph) {
  std::vector<int32_t> by(graph.values.size(), -1);
  for (size_t n = 0; n < graph.nodes.size(); ++n)
    for (ValueId r : graph.nodes[n].results) by[r] = static_cast<int32_t>(n);
  return by;
}

std::vector<uint32_t> use_counts(const Graph& graph) {
  std::vector<uint32_t> counts(graph.values.size(), 0);
  for (const Node& node : graph.nodes) for_each_use(node, [&](ValueId id) { ++counts[id]; });
  for (ValueId id : graph.outputs) ++counts[id];
  return counts;
}

void replace_uses(Graph& graph, const std::vector<ValueId>& replacement) {
  for (Node& node : graph.nodes) for_each_use(node, [&](ValueId& id) { id = replacement[id]; });
  for (ValueId& id : graph.outputs) id = replacement[id];
}

size_t count_nodes(const Graph& graph) {
  size_t n = 0;
  any_graph(graph, [&](const Graph& g) {
    n += g.nodes.size();
    return false;
  });
  return n;
}

ValueId operand(const Node& node, size_t i) {
  const auto* use = std::get_if<Use>(&node.args[i]);
  return use ? use->id : kNoId;
}

bool is_pure_op(const Node& node, std::string_view name) {
  return node.kind == NodeKind::Op && node.is_pure() && node.op->name == name;
}

bool same_scalar(const Scalar& a, const Scalar& b) {
  if (a.kind() != b.kind()) return false;
  if (!a.is_float() && !a.is_complex()) return a.to_int() == b.to_int();
  const std::complex<double> x = a.to_complex(), y = b.to_complex();
  return std::memcmp(&x, &y, sizeof x) == 0;
}

bool same_arg(const NodeArg& a, const NodeArg& b) {
  if (a.index() != b.index()) return false;
  if (const auto* s = std::get_if<Scalar>(&a)) return same_scalar(*s, std::get<Scalar>(b));
  return std::visit(
      [&](const auto& x) {
        using T = std::decay_t<decltype(x)>;
        if constexpr (std::is_same_v<T, Scalar>)
          return false;
        else
          return x == std::get<T>(b);
      },
      a);
}

bool same_computation(const Node& a, const Node& b) {
  if (a.kind != b.kind || a.op != b.op || a.index != b.index || a.expected != b.expected || a.bodies != b.bodies ||
      a.args.size() != b.args.size())
    return false;
  for (size_t i = 0; i < a.args.size(); ++i)
    if (!same_arg(a.args[i], b.args[i])) return false;
  return true;
}

}  // namespace terra::graph
