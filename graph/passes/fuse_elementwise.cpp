#include "graph/passes/fuse_elementwise.h"

#include <algorithm>
#include <utility>

#include "engine/device/backend.h"

namespace terra::graph {
namespace {

constexpr size_t kLargestGroup = 48;  // ops; bounds the scratch tiles of a chain

bool can_fuse(const Node& n) {
  if (!n.is_op(kElementwise) || n.op->writes || !n.is_pure() || n.op->is(kChecksValues) || n.results.size() != 1)
    return false;
  const Kernel* kernel = cpu_backend().find_kernel(n.op->name);
  return kernel && !kernel->run;
}

/// Groups of nodes, each of which will be one node, in an order in which they may run. A group may be joined with the
/// group of an operand unless a path from the one to the other leads through a third: it would have to run between
/// them. An effect comes behind the one before it in its chain (a loop behind an assert) as behind an operand.
class Grouping {
 public:
  explicit Grouping(const Graph& g)
      : g_(g), made_by_(definitions(g)), before_in_chain_(g.nodes.size(), -1), group_(g.nodes.size()) {
    std::vector<int32_t> last;
    for (size_t n = 0; n < group_.size(); ++n) {
      group_[n] = n;
      members_.push_back({n});
      const uint32_t chain = g.nodes[n].chain;
      if (chain == 0) continue;
      if (last.size() <= chain) last.resize(chain + 1, -1);
      before_in_chain_[n] = std::exchange(last[chain], static_cast<int32_t>(n));
    }
    order_ = position_ = group_;
    met_.assign(group_.size(), 0);
  }

  void join_all() {
    for (size_t n = 0; n < g_.nodes.size(); ++n) {
      if (!can_fuse(g_.nodes[n])) continue;
      for_each_use(g_.nodes[n], [&](ValueId id) {
        const int32_t p = made_by_[id];
        if (p < 0 || !can_fuse(g_.nodes[p])) return;
        if (!(g_.meta(g_.nodes[p].results[0]).sizes == g_.meta(g_.nodes[n].results[0]).sizes)) return;
        try_join(group_[p], group_[n]);
      });
    }
  }

  /// Groups with members, as they may run.
  std::vector<size_t> order() const {
    std::vector<size_t> groups;
    for (size_t g : order_)
      if (g != kNone) groups.push_back(g);
    return groups;
  }
  const std::vector<size_t>& group() const { return group_; }
  const std::vector<std::vector<size_t>>& members() const { return members_; }

 private:
  static constexpr size_t kNone = SIZE_MAX;

  template <class F>
  void for_each_group_before(size_t group, F&& fn) const {
    for (size_t n : members_[group]) {
      for_each_use(g_.nodes[n], [&](ValueId id) {
        if (made_by_[id] >= 0) fn(group_[made_by_[id]]);
      });
      if (before_in_chain_[n] >= 0) fn(group_[before_in_chain_[n]]);
    }
  }

  /// Joins group b, which waits for group a, with that. In the order what b waits for moves before them, the rest of
  /// what lay between them behind them:   a x u y b   ->   u ab x y   where b waits for u.
  void try_join(size_t a, size_t b) {
    if (a == b || members_[a].size() + members_[b].size() > kLargestGroup || !find_between(a, b)) return;
    std::vector<size_t> between, behind;
    for (size_t at = position_[a] + 1; at < position_[b]; ++at)
      if (order_[at] != kNone) (met_[order_[at]] == round_ ? between : behind).push_back(order_[at]);
    size_t at = position_[a];
    const size_t end = position_[b];
    const auto put = [&](size_t group) {
      order_[at] = group;
      position_[group] = at++;
    };
    for (size_t group : between) put(group);
    put(a);
    for (size_t group : behind) put(group);
    for (; at <= end; ++at) order_[at] = kNone;
    for (size_t n : members_[b]) group_[n] = a;
    members_[a].insert(members_[a].end(), members_[b].begin(), members_[b].end());
    std::sort(members_[a].begin(), members_[a].end());
    members_[b].clear();
  }

  /// Meets the groups behind a that b waits for; false if one of them waits for a.
  bool find_between(size_t a, size_t b) {
    ++round_;
    std::vector<size_t> stack = {b};
    bool free = true;
    while (!stack.empty() && free) {
      const size_t group = stack.back();
      stack.pop_back();
      for_each_group_before(group, [&](size_t before) {
        if (before == a) free &= group == b;
        if (before == b || position_[before] <= position_[a] || met_[before] == round_) return;
        met_[before] = round_;
        stack.push_back(before);
      });
    }
    return free;
  }

  const Graph& g_;
  const std::vector<int32_t> made_by_;
  std::vector<int32_t> before_in_chain_;
  std::vector<size_t> group_;  ///< by node
  std::vector<std::vector<size_t>> members_;
  std::vector<size_t> order_;     ///< groups, kNone where one has left: none waits for a later one
  std::vector<size_t> position_;  ///< by group: where it stands in order_
  std::vector<uint32_t> met_;     ///< by group: the last round that met it
  uint32_t round_ = 0;
};

/// The fused node of a group; its body has the operands from outside as inputs and what others use as outputs.
Node make_fused(const Graph& g, const std::vector<size_t>& members, const std::vector<bool>& used_outside) {
  auto body = std::make_shared<Graph>();
  body->name = "fused";
  Node fused;
  fused.kind = NodeKind::Fused;
  fused.origin = g.nodes[members.back()].origin;
  std::vector<ValueId> inner(g.values.size(), kNoId);
  const auto operand = [&](ValueId id) {
    if (inner[id] == kNoId) {
      inner[id] = body->add_input(g.meta(id));
      fused.args.push_back(Use{id});
    }
    return inner[id];
  };
  for (size_t n : members)  // inputs first, so that they are numbered before the nodes' results
    for_each_use(g.nodes[n], [&](ValueId id) {
      bool from_inside = false;
      for (size_t m : members) from_inside |= g.nodes[m].results[0] == id;
      if (!from_inside) operand(id);
    });
  for (size_t n : members) {
    Node copy = g.nodes[n];
    for_each_use(copy, [&](ValueId& id) { id = inner[id]; });
    const ValueId result = copy.results[0];
    inner[result] = body->add_value(g.meta(result));
    copy.results = {inner[result]};
    copy.origin = -1;
    body->nodes.push_back(std::move(copy));
    if (used_outside[result]) {
      body->outputs.push_back(inner[result]);
      fused.results.push_back(result);
    }
  }
  body->input_names.clear();
  fused.bodies = {std::move(body)};
  return fused;
}

}  // namespace

bool fuse_elementwise(Graph& graph) {
  Grouping grouping(graph);
  grouping.join_all();
  const auto& group = grouping.group();
  const auto& members = grouping.members();

  std::vector<bool> used_outside(graph.values.size(), false);
  const std::vector<int32_t> made_by = definitions(graph);
  for (ValueId id : graph.outputs) used_outside[id] = true;
  for (size_t n = 0; n < graph.nodes.size(); ++n)
    for_each_use(graph.nodes[n], [&](ValueId id) {
      if (made_by[id] >= 0 && group[made_by[id]] != group[n]) used_outside[id] = true;
    });

  std::vector<Node> nodes;
  bool changed = false;
  for (size_t n : grouping.order()) {
    if (members[n].size() > 1) {
      Node fused = make_fused(graph, members[n], used_outside);
      if (!fused.results.empty()) nodes.push_back(std::move(fused));  // else nobody reads the group
      changed = true;
    } else {
      nodes.push_back(graph.nodes[n]);
    }
  }
  if (changed) graph.nodes = std::move(nodes);
  return changed;
}

}  // namespace terra::graph
