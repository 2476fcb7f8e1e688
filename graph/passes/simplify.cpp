#include "graph/passes/simplify.h"

#include <algorithm>
#include <numeric>

#include "graph/passes/rewrite.h"

namespace terra::graph {

ValueId Rewrite::value(size_t i) const {
  const Node& n = graph_.nodes[at_];
  if (i >= n.args.size()) return kNoId;
  const auto* use = std::get_if<Use>(&n.args[i]);
  return use ? use->id : kNoId;
}

const Scalar* Rewrite::number(size_t i) const {
  const Node* n = &graph_.nodes[at_];
  if (i >= n->args.size()) return nullptr;
  const NodeArg* arg = &n->args[i];
  while (const auto* use = std::get_if<Use>(arg)) {
    n = maker(use->id);
    if (!n || n->kind != NodeKind::Op) return nullptr;
    if (n->op->name == "full")
      arg = &n->args[1];
    else if (n->op->name == "expand" || n->op->name == "view" || n->op->name == "unsqueeze")
      arg = &n->args[0];
    else
      return nullptr;
  }
  return std::get_if<Scalar>(arg);
}

const Node* Rewrite::maker(ValueId id) const {
  if (id == kNoId || id >= made_by_.size() || made_by_[id] < 0) return nullptr;
  return &graph_.nodes[made_by_[id]];
}

const Node* Rewrite::made_by(ValueId id, std::string_view name) const {
  const Node* n = maker(id);
  return n && n->kind == NodeKind::Op && n->op->name == name ? n : nullptr;
}

bool Rewrite::is_any(std::initializer_list<std::string_view> names) const {
  return std::find(names.begin(), names.end(), graph_.nodes[at_].op->name) != names.end();
}

bool Rewrite::becomes(ValueId id) {
  const ValueId result = node().results[0];
  if (id == kNoId || id == result || !(graph_.meta(id) == graph_.meta(result))) return false;
  same_[result] = id;
  node().results.clear();  // the node goes at the end of the round
  return true;
}

bool Rewrite::becomes(std::string_view op, std::vector<NodeArg> args) {
  const Op* found = find_op(op);
  if (!found || found->sig().params.size() < args.size()) return false;
  args.resize(found->sig().params.size());
  node().kind = NodeKind::Op;
  node().op = found;
  node().args = std::move(args);
  return true;
}

ValueId Rewrite::insert(std::string_view op, std::vector<NodeArg> args, ValueMeta meta) {
  Node n = new_op(graph_, op, std::move(args), std::move(meta), node().origin);
  same_.push_back(n.results[0]);
  const ValueId id = n.results[0];
  inserted_.emplace_back(at_, std::move(n));
  return id;
}

bool simplify(Graph& graph) {
  bool ever = false;
  for (bool changed = true; changed;) {
    changed = false;
    std::vector<bool> gone(graph.nodes.size(), false);
    std::vector<ValueId> same(graph.values.size());
    std::iota(same.begin(), same.end(), ValueId{0});
    Rewrite rewrite(graph, same);
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
      Node& node = graph.nodes[n];
      for_each_use(node, [&](ValueId& id) { id = same[id]; });
      if ((node.kind != NodeKind::Op && node.kind != NodeKind::WriteView) || !node.is_pure()) continue;
      rewrite.look_at(n);
      for (const Rule& rule : simplify_rules())
        if (rule.apply(rewrite)) {
          changed = true;
          gone[n] = graph.nodes[n].results.empty();
          break;  // one rule a round: the next round sees a consistent graph
        }
    }
    for (ValueId& id : graph.outputs) id = same[id];
    if (changed) {
      std::vector<Node> nodes;
      size_t next = 0;
      for (size_t n = 0; n < graph.nodes.size(); ++n) {
        for (; next < rewrite.inserted().size() && rewrite.inserted()[next].first == n; ++next)
          nodes.push_back(rewrite.inserted()[next].second);
        if (!gone[n]) nodes.push_back(std::move(graph.nodes[n]));
      }
      graph.nodes = std::move(nodes);
    }
    ever |= changed;
  }
  return ever;
}

}  // namespace terra::graph
