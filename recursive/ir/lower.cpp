// SubGraphs as plain graphs: outside tensors become inputs, which every call hands down.
#include <algorithm>
#include <map>

#include "engine/errors/errors.h"
#include "graph/ir/print.h"
#include "graph/ir/verify.h"
#include "recursive/ir/state.h"
#include "recursive/ir/sub_graph.h"

namespace terra::recursive {
namespace {

using graph::Graph;
using graph::GraphId;
using graph::Node;

class Lowering {
 public:
  explicit Lowering(const std::shared_ptr<SubGraphState>& root) {
    find(root);
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t k = 0; k < found_.size(); ++k)
        for (size_t c : found_[k].callees)
          for (const Tensor& t : found_[c].outside) changed |= note(found_[k].outside, t);
    }
  }

  Lowered run() {
    Lowered made{std::make_shared<graph::GraphTable>(), 0, found_[0].outside};
    for (Found& f : found_) f.id = made.table->declare(f.state->name);
    for (const Found& f : found_) {
      Graph g = f.state->body.graph();
      std::map<const TensorImpl*, ValueId> have;
      for (const Tensor& t : f.outside) have[t.get()] = g.add_input(meta_of(t));
      hand_down(g, f, have);
      made.table->define(f.id, std::move(g));
    }
    made.root = found_[0].id;
    graph::verify(made.caller(), graph::Stage::Captured, "lowering a SubGraph");
    return made;
  }

 private:
  struct Found {
    std::shared_ptr<SubGraphState> state;
    std::vector<size_t> callees;  ///< in found_
    std::vector<Tensor> outside;
    GraphId id = graph::kNoId;
  };

  static graph::ValueMeta meta_of(const Tensor& t) {
    return graph::ValueMeta::tensor(t.dtype(), t.sizes(), t.device());
  }

  static bool note(std::vector<Tensor>& list, const Tensor& t) {
    if (std::any_of(list.begin(), list.end(), [&](const Tensor& o) { return o.get() == t.get(); })) return false;
    list.push_back(t);
    return true;
  }

  size_t find(const std::shared_ptr<SubGraphState>& state) {
    for (size_t k = 0; k < found_.size(); ++k)
      if (found_[k].state == state) return k;
    check(state->complete, "SubGraph \"{}\" is invoked but has no body: call define() first", state->name);
    const size_t at = found_.size();
    found_.push_back({state, {}, {}});
    note_constants(state->body.graph(), found_[at].outside);
    for (const auto& weak : state->callees) {
      const auto callee = weak.lock();
      check(callee != nullptr, "a SubGraph that \"{}\" invokes is gone: keep the object until all are lowered",
            state->name);
      const size_t number = find(callee);
      found_[at].callees.push_back(number);
    }
    return at;
  }

  static void note_constants(const Graph& g, std::vector<Tensor>& outside) {
    for (const auto& constant : g.constants) note(outside, constant.second);
    for (const Node& n : g.nodes)
      for (const auto& body : n.bodies) note_constants(*body, outside);
  }

  /// All that a nested graph needs from outside, for itself and for what it calls.
  void note_needs(const Graph& g, const Found& f, std::vector<Tensor>& needs) const {
    for (const auto& constant : g.constants) note(needs, constant.second);
    for (const Node& n : g.nodes) {
      if (n.kind == graph::NodeKind::Call)
        for (const Tensor& t : found_[f.callees[n.index]].outside) note(needs, t);
      for (const auto& body : n.bodies) note_needs(*body, f, needs);
    }
  }

  /// `have`: the inputs of the graph that outside tensors are.
  void hand_down(Graph& g, const Found& f, const std::map<const TensorImpl*, ValueId>& have) const {
    std::vector<ValueId> replacement(g.values.size());
    for (ValueId id = 0; id < replacement.size(); ++id) replacement[id] = id;
    for (const auto& [id, tensor] : g.constants) replacement[id] = have.at(tensor.get());
    g.constants.clear();
    graph::replace_uses(g, replacement);
    for (Node& n : g.nodes) {
      if (n.kind == graph::NodeKind::Call) {
        const Found& callee = found_[f.callees[n.index]];
        for (const Tensor& t : callee.outside) n.args.push_back(graph::Use{have.at(t.get())});
        n.index = callee.id;
      }
      if (n.bodies.empty()) continue;
      std::vector<Tensor> needs;
      for (const auto& body : n.bodies) note_needs(*body, f, needs);
      for (const Tensor& t : needs) n.args.push_back(graph::Use{have.at(t.get())});
      for (auto& body : n.bodies) {
        auto inner = std::make_shared<Graph>(*body);
        std::map<const TensorImpl*, ValueId> inside;
        for (const Tensor& t : needs) inside[t.get()] = inner->add_input(meta_of(t));
        hand_down(*inner, f, inside);
        body = std::move(inner);
      }
    }
  }

  std::vector<Found> found_;  // the root first
};

}  // namespace

Graph Lowered::caller() const {
  Graph g;
  g.name = "main";
  const Graph& callee = table->at(root);
  Node n;
  n.kind = graph::NodeKind::Call;
  n.index = root;
  n.chain = graph::kHostChain;
  n.ticket = 1;
  for (ValueId id : callee.inputs) n.args.push_back(graph::Use{g.add_input(callee.meta(id))});
  for (ValueId id : callee.outputs) n.results.push_back(g.add_value(callee.meta(id)));
  g.outputs = n.results;
  g.nodes.push_back(std::move(n));
  g.table = table;
  return g;
}

Lowered lower(const SubGraph& root) { return Lowering(root.state()).run(); }

std::string print(const SubGraph& root) { return graph::print(lower(root).caller()); }

}  // namespace terra::recursive
