#include "graph/gradient/undefined.h"

#include <algorithm>
#include <string_view>

#include "engine/ops/call.h"
#include "engine/tensor/transfer.h"
#include "graph/gradient/partition.h"
#include "graph/passes/drop_dead_code.h"

namespace terra::graph {
namespace {

/// Ops whose operands 1 and 2 are the factors of a product that is added to operand 0.
bool adds_a_product(const Node& n) {
  static constexpr std::string_view names[] = {"addmm", "baddbmm", "addmv", "addr", "addcmul"};
  return n.kind == NodeKind::Op && std::find(std::begin(names), std::end(names), n.op->name) != std::end(names);
}

class Dropping {
 public:
  Dropping(Graph& part, const std::vector<bool>& flows, std::vector<bool>& undefined)
      : part_(part), flows_(flows), undefined_(undefined) {}

  bool run() {
    bool changed = false;
    const std::vector<Node> nodes = std::move(part_.nodes);
    part_.nodes.clear();
    for (Node node : nodes) {
      bool defined = joins_others(node), undefined = false;
      for_each_use(node, [&](ValueId id) {
        undefined |= undefined_[id];
        defined |= flows_[id] && !undefined_[id];
      });
      if (undefined && !defined) {
        for (ValueId r : node.results) undefined_[r] = true;
        changed = true;
        continue;
      }
      if (undefined) changed |= use_zeros(node);
      part_.nodes.push_back(std::move(node));
    }
    return changed;
  }

 private:
  /// A list of which some parts are no gradients: a pass has made several products one.
  bool joins_others(const Node& node) const {
    return std::any_of(node.args.begin(), node.args.end(), [&](const NodeArg& a) {
      const auto* list = std::get_if<UseList>(&a);
      const auto is_gradient = [&](ValueId id) { return id != kNoId && flows_[id]; };
      const auto is_other = [&](ValueId id) { return id != kNoId && !flows_[id]; };
      return list && std::any_of(list->begin(), list->end(), is_gradient) &&
             std::any_of(list->begin(), list->end(), is_other);
    });
  }

  /// The node adds gradients of which some are undefined. True: it multiplies them, too.
  bool use_zeros(Node& node) {
    const auto factor = [&](size_t a) {
      const ValueId id = operand(node, a);
      return id != kNoId && undefined_[id];
    };
    const bool product = adds_a_product(node) && (factor(1) || factor(2));
    if (product)
      for (size_t a : {1, 2}) std::get<Use>(node.args[a]).id = zeros_like(operand(node, a));
    for_each_use(node, [&](ValueId& id) {
      if (id < undefined_.size() && undefined_[id]) id = zeros_like(id);
    });
    return product;
  }

  ValueId zeros_like(ValueId id) {
    const ValueMeta meta = part_.meta(id);
    part_.nodes.push_back(
        new_op(part_, "full", {IntList(meta.sizes.begin(), meta.sizes.end()), Scalar(0.0), meta.dtype}, meta, -1));
    return part_.nodes.back().results[0];
  }

  Graph& part_;
  const std::vector<bool>& flows_;
  std::vector<bool>& undefined_;
};

}  // namespace

bool drop_undefined(Graph& part, const std::vector<bool>& flows, std::vector<bool>& undefined) {
  return Dropping(part, flows, undefined).run();
}

std::vector<bool> flows_of(const Program& backward) {
  const Graph& g = backward.graph;
  std::vector<bool> flows(g.values.size(), false);
  for (size_t i = 0; i < g.inputs.size(); ++i)
    flows[g.inputs[i]] = backward.inputs[i].kind == InputBinding::Kind::Tangent;
  for (const Node& n : g.nodes) {
    bool any = false;
    for_each_use(n, [&](ValueId id) { any = any || flows[id]; });
    for (ValueId r : n.results) flows[r] = any;
  }
  return flows;
}

Program where_undefined(Program backward, const std::vector<bool>& undefined_inputs) {
  Graph& g = backward.graph;
  std::vector<bool> undefined(g.values.size(), false);
  for (size_t i = 0; i < g.inputs.size(); ++i) undefined[g.inputs[i]] = undefined_inputs[i];
  drop_undefined(g, flows_of(backward), undefined);
  Program made = backward;
  made.graph.inputs.clear();
  made.graph.input_names.clear();
  made.inputs.clear();
  for (size_t i = 0; i < g.inputs.size(); ++i) {
    if (undefined_inputs[i]) continue;
    made.graph.inputs.push_back(g.inputs[i]);
    made.graph.input_names.push_back(i < g.input_names.size() ? g.input_names[i] : "");
    made.inputs.push_back(backward.inputs[i]);
  }
  made.graph.outputs.clear();
  made.tensors.clear();
  made.results.clear();
  made.gradients.clear();
  made.first_gradient = 0;
  for (size_t o = 0; o < g.outputs.size(); ++o)
    if (!undefined[g.outputs[o]]) add_gradient(made, backward.gradients[o], g.outputs[o]);
  drop_dead_code(made.graph);
  return made;
}

bool are_finite(std::span<const Tensor> gradients) {
  static const Op *isfinite = find_op("isfinite"), *all = find_op("all");
  const GradMode off(false);
  return std::all_of(gradients.begin(), gradients.end(),
                     [](const Tensor& g) { return !g.defined() || *to_host((*all)((*isfinite)(g)))->data_as<bool>(); });
}

}  // namespace terra::graph
