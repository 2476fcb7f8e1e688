#include "graph/passes/merge_updates.h"

namespace terra::graph {
namespace {

/// An update whose every tensor is in a list; its results come list by list.
bool is_list_update(const Node& n) {
  if (n.kind != NodeKind::Op || n.op->writes == 0 || !n.is_pure()) return false;
  for (size_t p = 0; p < n.args.size(); ++p) {
    if (n.op->sig().params[p].type == ParamType::Tensor) return false;
    if ((n.op->writes >> p & 1) && !std::holds_alternative<UseList>(n.args[p])) return false;
    if (const auto* list = std::get_if<UseList>(&n.args[p]))
      for (ValueId id : *list)
        if (id == kNoId) return false;
  }
  return true;
}

/// Same op and attributes; lists are empty in both or in neither.
bool alike(const Node& a, const Node& b) {
  if (a.op != b.op) return false;
  for (size_t p = 0; p < a.args.size(); ++p) {
    const auto *x = std::get_if<UseList>(&a.args[p]), *y = std::get_if<UseList>(&b.args[p]);
    if ((x != nullptr) != (y != nullptr)) return false;
    if (x ? x->empty() != y->empty() : !same_arg(a.args[p], b.args[p])) return false;
  }
  return true;
}

/// Appends b's lists to a's, results in the order that the merged call has.
Node joined(const Node& a, const Node& b) {
  Node out = b;
  out.results.clear();
  size_t from_a = 0, from_b = 0;
  for (size_t p = 0; p < a.args.size(); ++p) {
    const auto* x = std::get_if<UseList>(&a.args[p]);
    if (!x) continue;
    const auto& y = std::get<UseList>(b.args[p]);
    UseList both = *x;
    both.insert(both.end(), y.begin(), y.end());
    out.args[p] = std::move(both);
    if (!(a.op->writes >> p & 1)) continue;
    for (size_t k = 0; k < x->size(); ++k) out.results.push_back(a.results[from_a++]);
    for (size_t k = 0; k < y.size(); ++k) out.results.push_back(b.results[from_b++]);
  }
  return out;
}

}  // namespace

bool merge_updates(Graph& graph) {
  std::vector<bool> used_by_node(graph.values.size(), false);
  for (const Node& n : graph.nodes) for_each_use(n, [&](ValueId id) { used_by_node[id] = true; });
  const auto leaves_only = [&](const Node& n) {
    for (ValueId r : n.results)
      if (used_by_node[r]) return false;
    return true;
  };
  bool changed = false;
  std::vector<bool> gone(graph.nodes.size(), false);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (!is_list_update(graph.nodes[n]) || !leaves_only(graph.nodes[n])) continue;
    for (size_t earlier = n; earlier-- > 0;) {  // the merged update stands where the later one stood
      if (gone[earlier] || !is_list_update(graph.nodes[earlier]) || !leaves_only(graph.nodes[earlier]) ||
          !alike(graph.nodes[earlier], graph.nodes[n]))
        continue;
      graph.nodes[n] = joined(graph.nodes[earlier], graph.nodes[n]);
      gone[earlier] = changed = true;
      break;
    }
  }
  size_t at = 0;
  std::erase_if(graph.nodes, [&](const Node&) { return gone[at++]; });
  return changed;
}

}  // namespace terra::graph
