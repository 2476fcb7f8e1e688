#include "graph/gradient/derivative.h"

#include <algorithm>
#include <deque>
#include <map>

#include "engine/errors/errors.h"
#include "graph/gradient/joint.h"
#include "graph/gradient/partition.h"

namespace terra::graph {
namespace {

using Site = Differentiated::Site;

std::vector<uint32_t> targets_of(const Graph& graph, const std::vector<bool>& wanted) {
  std::vector<uint32_t> targets;
  for (uint32_t i = 0; i < graph.inputs.size(); ++i)
    if (wanted[i] && is_differentiable(graph.meta(graph.inputs[i]))) targets.push_back(i);
  return targets;
}

/// Operands that a backward half of the joint graph reads, as far as it is known what its callees read.
std::vector<uint32_t> reads_of(const Differentiated& d) {
  const Graph& g = d.joint;
  const size_t inputs = d.source->inputs.size();
  std::vector<bool> after_tangent(g.values.size(), false), needed(g.values.size(), false), backward(g.nodes.size());
  for (size_t i = inputs; i < g.inputs.size(); ++i) after_tangent[g.inputs[i]] = true;
  for (size_t n = 0; n < g.nodes.size(); ++n) {
    for_each_use(g.nodes[n], [&](ValueId id) { backward[n] = backward[n] || after_tangent[id]; });
    for (ValueId r : g.nodes[n].results) after_tangent[r] = backward[n];
  }
  for (const Site& site : d.sites) {
    if (site.backward == Site::kNone) continue;
    if (site.selector != kNoId) needed[site.selector] = true;
    for (uint32_t i : site.callees[0]->derivative.reads) needed[site.operands[i]] = true;
  }
  for (size_t o = d.source->outputs.size(); o < g.outputs.size(); ++o) needed[g.outputs[o]] = true;
  for (size_t n = g.nodes.size(); n-- > 0;) {
    const Node& node = g.nodes[n];
    const bool again =
        can_repeat(node) && std::any_of(node.results.begin(), node.results.end(), [&](ValueId r) { return needed[r]; });
    if (backward[n] || again) for_each_use(node, [&](ValueId id) { needed[id] = true; });
  }
  std::vector<uint32_t> reads;
  for (uint32_t i = 0; i < inputs; ++i)
    if (needed[g.inputs[i]]) reads.push_back(i);
  return reads;
}

/// The backward nodes get their arguments.
void complete_sites(Differentiated& d) {
  for (const Site& site : d.sites) {
    const auto is_switch = site.selector != kNoId;
    Node& forward = d.joint.nodes[site.forward];
    if (is_switch)
      for (const Differentiated* callee : site.callees)
        forward.bodies.push_back(std::make_shared<const Graph>(callee->forward));
    if (site.backward == Site::kNone) continue;
    Node& backward = d.joint.nodes[site.backward];
    backward.args.clear();
    if (is_switch) backward.args.push_back(Use{site.selector});
    backward.args.push_back(Use{site.record});
    for (uint32_t i : site.callees[0]->derivative.reads) backward.args.push_back(Use{site.operands[i]});
    for (ValueId tangent : site.tangents) backward.args.push_back(Use{tangent});
    if (!is_switch) backward.index = site.callees[0]->derivative.backward;
    if (is_switch)
      for (const Differentiated* callee : site.callees)
        backward.bodies.push_back(std::make_shared<const Graph>(callee->backward));
  }
}

/// What partition takes.
Program as_program(Differentiated& d) {
  Program p;
  p.graph = std::move(d.joint);
  const Graph& g = p.graph;
  const size_t inputs = d.source->inputs.size();
  for (uint32_t i = 0; i < g.inputs.size(); ++i) {
    const ValueMeta& meta = g.meta(g.inputs[i]);
    InputBinding in;
    in.index = i;
    in.kind = i >= inputs        ? InputBinding::Kind::Tangent
              : meta.is_tensor() ? InputBinding::Kind::Tensor
                                 : InputBinding::Kind::Scalar;
    if (meta.is_tensor()) in.strides = contiguous_strides(meta.sizes);
    p.inputs.push_back(std::move(in));
  }
  p.first_gradient = static_cast<uint32_t>(d.source->outputs.size());
  for (size_t o = p.first_gradient; o < g.outputs.size(); ++o) {
    const Dims& sizes = g.meta(g.outputs[o]).sizes;
    p.gradients.push_back({0, static_cast<uint32_t>(o - p.first_gradient), sizes, contiguous_strides(sizes)});
  }
  return p;
}

/// Further results become members of one record.
Graph with_record(Graph forward, size_t results) {
  Node pack;
  pack.kind = NodeKind::Pack;
  for (size_t o = results; o < forward.outputs.size(); ++o) pack.args.push_back(Use{forward.outputs[o]});
  pack.results = {forward.add_value(ValueMeta::record())};
  forward.outputs.resize(results);
  forward.outputs.push_back(pack.results[0]);
  forward.nodes.push_back(std::move(pack));
  return forward;
}

/// What was saved comes from the record, or is an operand.
Graph from_record(Graph backward, const std::vector<SavedValue>& saved, const Graph& source,
                  const std::vector<uint32_t>& reads) {
  const std::vector<ValueId> inputs = std::exchange(backward.inputs, {});
  backward.input_names.clear();
  Node unpack;
  unpack.kind = NodeKind::Unpack;
  std::map<uint32_t, ValueId> operands;
  for (size_t k = 0; k < saved.size(); ++k) {
    if (saved[k].kind == SavedValue::Kind::Input || saved[k].kind == SavedValue::Kind::ScalarInput)
      operands[saved[k].index] = inputs[k];
    else
      unpack.results.push_back(inputs[k]);
  }
  const ValueId record = backward.add_input(ValueMeta::record(), "kept");
  for (uint32_t i : reads) {
    const auto operand = operands.find(i);
    const ValueId id = operand == operands.end() ? backward.add_value(source.meta(source.inputs[i])) : operand->second;
    backward.inputs.push_back(id);
    if (operand != operands.end()) operands.erase(operand);
  }
  ensure(operands.empty(), "a backward graph reads the operands that it was found to read");
  backward.inputs.insert(backward.inputs.end(), inputs.begin() + static_cast<std::ptrdiff_t>(saved.size()),
                         inputs.end());
  backward.input_names.resize(backward.inputs.size());
  if (unpack.results.empty()) return backward;
  unpack.args = {Use{record}};
  backward.nodes.insert(backward.nodes.begin(), std::move(unpack));
  return backward;
}

}  // namespace

class Derivatives::Work final : public Callees {
 public:
  explicit Work(GraphTable& table) : table_(table) {}

  Differentiated& graph(GraphId id, const std::vector<bool>& wanted) override {
    const Graph& source = table_.at(id);
    std::vector<uint32_t> targets = targets_of(source, wanted);
    Differentiated*& made = graphs_[{id, targets}];
    if (made) return *made;
    made = &add(std::make_shared<const Graph>(source), std::move(targets));
    made->derivative.forward = table_.declare(table_.name(id) + ".forward");
    made->derivative.backward = table_.declare(table_.name(id) + ".backward");
    return *made;
  }

  Differentiated& switch_case(std::shared_ptr<const Graph> source, const std::vector<bool>& wanted) override {
    std::vector<uint32_t> targets = targets_of(*source, wanted);
    return add(std::move(source), std::move(targets));
  }

  /// Makes what has been asked for, and what that asks for.
  void finish() {
    const size_t first = done_;
    for (; done_ < all_.size(); ++done_) build_joint(all_[done_], *this);
    while (find_reads(first)) continue;
    for (size_t k = all_.size(); k-- > first;) assemble(all_[k]);  // cases come behind what they are cases of
  }

 private:
  Differentiated& add(std::shared_ptr<const Graph> source, std::vector<uint32_t> targets) {
    Differentiated& d = all_.emplace_back();
    d.source = std::move(source);
    d.derivative.targets = std::move(targets);
    return d;
  }

  /// Graphs that call each other read what the others read of them; the cases of a switch read the same. True where
  /// more was found.
  bool find_reads(size_t first) {
    bool more = false;
    for (size_t k = all_.size(); k-- > first;) {
      std::vector<uint32_t> reads = reads_of(all_[k]);
      const std::vector<uint32_t>& known = all_[k].derivative.reads;
      if (std::includes(known.begin(), known.end(), reads.begin(), reads.end())) continue;
      std::vector<uint32_t> both;
      std::set_union(known.begin(), known.end(), reads.begin(), reads.end(), std::back_inserter(both));
      all_[k].derivative.reads = std::move(both);
      more = true;
    }
    for (size_t k = first; k < all_.size(); ++k)
      for (const Site& site : all_[k].sites) more |= share_reads(site);
    return more;
  }

  static bool share_reads(const Site& site) {
    std::vector<uint32_t> all;
    for (const Differentiated* callee : site.callees) {
      std::vector<uint32_t> both;
      const std::vector<uint32_t>& reads = callee->derivative.reads;
      std::set_union(all.begin(), all.end(), reads.begin(), reads.end(), std::back_inserter(both));
      all = std::move(both);
    }
    bool more = false;
    for (Differentiated* callee : site.callees) {
      more |= callee->derivative.reads != all;
      callee->derivative.reads = all;
    }
    return more;
  }

  void assemble(Differentiated& d) {
    complete_sites(d);
    Partition parts = partition(as_program(d), true);
    Graph forward = with_record(std::move(parts.forward.graph), d.source->outputs.size());
    Graph backward = from_record(std::move(parts.backward.graph), parts.saved, *d.source, d.derivative.reads);
    if (d.derivative.forward == kNoId) {
      d.forward = std::move(forward);
      d.backward = std::move(backward);
    } else {
      table_.define(d.derivative.forward, std::move(forward));
      table_.define(d.derivative.backward, std::move(backward));
    }
    d.joint = {};
    d.sites.clear();
    d.source.reset();
  }

  GraphTable& table_;
  std::deque<Differentiated> all_;
  size_t done_ = 0;
  std::map<std::pair<GraphId, std::vector<uint32_t>>, Differentiated*> graphs_;
};

Derivatives::Derivatives(GraphTable& table) : work_(std::make_unique<Work>(table)) {}
Derivatives::~Derivatives() = default;

const Derivative& Derivatives::of(GraphId id, const std::vector<bool>& wanted) {
  Differentiated& d = work_->graph(id, wanted);
  work_->finish();
  return d.derivative;
}

}  // namespace terra::graph
