#include "graph/passes/narrow_products.h"

#include <algorithm>
#include <string_view>

namespace terra::graph {
namespace {

/// The product that a node takes a part of, if nothing else uses it; -1 otherwise.
int32_t product_of(const Graph& graph, const Node& n, const std::vector<int32_t>& made_by,
                   const std::vector<uint32_t>& uses) {
  if (!is_pure_op(n, "narrow")) return -1;
  const auto* whole = std::get_if<Use>(&n.args[0]);
  if (!whole || uses[whole->id] != 1 || made_by[whole->id] < 0) return -1;
  const auto* dim = std::get_if<Scalar>(&n.args[1]);
  const Node& product = graph.nodes[made_by[whole->id]];
  const bool known = dim && dim->to_int() >= 0 && dim->to_int() < 2 && std::holds_alternative<Scalar>(n.args[2]);
  return known && is_pure_op(product, "mm") ? made_by[whole->id] : -1;
}

}  // namespace

bool narrow_products(Graph& graph) {
  const std::vector<int32_t> made_by = definitions(graph);
  const std::vector<uint32_t> uses = use_counts(graph);
  std::vector<std::pair<int32_t, Node>> parts;  // product -> the narrowed operand, which comes before it
  std::vector<bool> gone(graph.nodes.size(), false);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const int32_t at = product_of(graph, graph.nodes[n], made_by, uses);
    if (at < 0) continue;
    Node part = graph.nodes[n];
    Node& product = graph.nodes[at];
    const auto dim = static_cast<size_t>(std::get<Scalar>(part.args[1]).to_int());
    const ValueId operand = std::get<Use>(product.args[dim]).id;
    Dims sizes = graph.meta(operand).sizes;
    sizes[dim] = graph.meta(part.results[0]).sizes[dim];
    product.results = part.results;
    part.args[0] = Use{operand};
    part.results = {
        graph.add_value(ValueMeta::tensor(graph.meta(operand).dtype, std::move(sizes), graph.meta(operand).device))};
    product.args[dim] = Use{part.results[0]};
    parts.emplace_back(at, std::move(part));
    gone[n] = true;
  }
  if (parts.empty()) return false;
  std::sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Node> nodes;
  auto next = parts.begin();
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (next != parts.end() && next->first == static_cast<int32_t>(n)) nodes.push_back(std::move((next++)->second));
    if (!gone[n]) nodes.push_back(std::move(graph.nodes[n]));
  }
  graph.nodes = std::move(nodes);
  return true;
}

}  // namespace terra::graph
