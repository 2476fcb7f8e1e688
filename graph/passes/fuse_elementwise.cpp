#include "graph/passes/fuse_elementwise.h"

#include <algorithm>
#include <queue>
#include <utility>

#include "kernels/abi/kernel.h"

namespace terra::graph {
namespace {

constexpr size_t kLargestGroup = 48;  // ops; bounds the scratch tiles of a chain

bool can_fuse(const Node& n) {
  if (!n.is_op(kElementwise) || n.op->writes || !n.is_pure() || n.op->is(kChecksValues) || n.results.size() != 1)
    return false;
  const Kernel* kernel = find_kernel(n.op->name);
  return kernel && !kernel->run;
}

/// Groups of nodes, each of which will be one node. A group may be joined with the group of an operand unless a path
/// from the one to the other leads through a third: it would have to run between them.
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

  const std::vector<size_t>& group() const { return group_; }
  const std::vector<std::vector<size_t>>& members() const { return members_; }

 private:
  void try_join(size_t a, size_t b) {
    if (a == b || members_[a].size() + members_[b].size() > kLargestGroup || path_through_third(a, b)) return;
    for (size_t n : members_[b]) group_[n] = a;
    members_[a].insert(members_[a].end(), members_[b].begin(), members_[b].end());
    std::sort(members_[a].begin(), members_[a].end());
    members_[b].clear();
  }

  /// True iff some operand of b outside of both depends on a (or vice versa): the walk goes up from the operands of
  /// each that lie outside, no further than groups all of which come before the first member of the other. Where an
  /// effect comes behind another it depends on that (a loop behind an assert).
  bool path_through_third(size_t a, size_t b) { return reaches(b, a) || reaches(a, b); }

  bool reaches(size_t from, size_t to) {
    const size_t first = members_[to].front();
    std::vector<bool> seen(g_.nodes.size(), false);
    std::vector<size_t> stack;
    const auto visit_operands = [&](size_t n, bool start) {
      bool hit = false;
      const auto visit = [&](int32_t p) {
        if (p < 0) return;
        const size_t group = group_[p];
        if (members_[group].back() < first) return;
        if (group == to) {
          hit |= !start;
          return;
        }
        if (group == from && start) return;
        for (size_t m : members_[group])
          if (!seen[m]) {
            seen[m] = true;
            stack.push_back(m);
          }
      };
      for_each_use(g_.nodes[n], [&](ValueId id) { visit(made_by_[id]); });
      visit(before_in_chain_[n]);
      return hit;
    };
    for (size_t n : members_[from]) visit_operands(n, true);
    while (!stack.empty()) {
      const size_t n = stack.back();
      stack.pop_back();
      if (visit_operands(n, false)) return true;
    }
    return false;
  }

  const Graph& g_;
  const std::vector<int32_t> made_by_;
  std::vector<int32_t> before_in_chain_;
  std::vector<size_t> group_;
  std::vector<std::vector<size_t>> members_;
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

  // Order the groups: as the program has them where operands allow. Chains of effects count as operands.
  std::vector<std::vector<size_t>> after(graph.nodes.size());
  std::vector<size_t> missing(graph.nodes.size(), 0);
  const auto edge = [&](size_t a, size_t b) {
    if (a == b) return;
    after[a].push_back(b);
    ++missing[b];
  };
  std::vector<int64_t> last_in_chain;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for_each_use(graph.nodes[n], [&](ValueId id) {
      if (made_by[id] >= 0) edge(group[made_by[id]], group[n]);
    });
    const uint32_t chain = graph.nodes[n].chain;
    if (chain == 0) continue;
    if (last_in_chain.size() <= chain) last_in_chain.resize(chain + 1, -1);
    if (last_in_chain[chain] >= 0) edge(group[last_in_chain[chain]], group[n]);
    last_in_chain[chain] = static_cast<int64_t>(n);
  }
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t n = 0; n < graph.nodes.size(); ++n)
    if (!members[n].empty() && missing[n] == 0) ready.push(n);
  std::vector<Node> nodes;
  bool changed = false;
  while (!ready.empty()) {
    const size_t n = ready.top();
    ready.pop();
    if (members[n].size() > 1) {
      Node fused = make_fused(graph, members[n], used_outside);
      if (!fused.results.empty()) nodes.push_back(std::move(fused));  // else nobody reads the group
      changed = true;
    } else {
      nodes.push_back(graph.nodes[n]);
    }
    for (size_t next : after[n])
      if (--missing[next] == 0) ready.push(next);
  }
  if (changed) graph.nodes = std::move(nodes);
  return changed;
}

}  // namespace terra::graph
