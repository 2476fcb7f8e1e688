#include "graph/gradient/joint.h"

#include <fmt/format.h>

#include "engine/autograd/autograd.h"
#include "engine/errors/errors.h"
#include "engine/ops/call.h"
#include "graph/gradient/node_emitter.h"
#include "graph/ir/arg_list.h"
#include "graph/ir/names.h"

namespace terra::graph {
namespace {

/// On symbolic tensors, each with its value in the joint graph.
class JointBuilder : NodeEmitter {
 public:
  JointBuilder(Differentiated& graph, Callees& callees)
      : NodeEmitter(graph_emitter_), d_(graph), g_(*graph.source), callees_(callees), graph_emitter_(graph.joint) {}

  void run() {
    const EmitterScope scope(emitter_);
    const GradMode on(true);
    Graph& joint = d_.joint;
    joint.name = g_.name;
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < g_.inputs.size(); ++i) {
      const std::string name = i < g_.input_names.size() ? g_.input_names[i] : "";
      inputs.push_back(tensor_of(joint.add_input(g_.meta(g_.inputs[i]), name)));
    }
    for (uint32_t i : d_.derivative.targets) autograd::set_requires_grad(inputs[i], true);
    const std::vector<Tensor> outputs = play(g_, inputs);
    for (const Tensor& t : outputs) joint.outputs.push_back(value_of(t));
    add_gradients(inputs, outputs);
  }

 private:
  void add_gradients(const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs) {
    Graph& joint = d_.joint;
    std::vector<Tensor> roots, tangents, targets;
    for (uint32_t o = 0; o < outputs.size(); ++o) {
      const ValueMeta m = meta(joint.outputs[o]);
      if (!is_differentiable(m)) continue;
      d_.derivative.tangents.push_back(o);
      const Tensor tangent = tensor_of(joint.add_input(m, "tangent"));
      if (!outputs[o].requires_grad()) continue;
      roots.push_back(outputs[o]);
      tangents.push_back(tangent);
    }
    for (uint32_t i : d_.derivative.targets) targets.push_back(inputs[i]);
    std::vector<Tensor> found(targets.size());
    if (!roots.empty()) found = autograd::gradients(roots, tangents, targets, false, false, true);
    for (size_t k = 0; k < targets.size(); ++k)
      joint.outputs.push_back(gradient(found[k], meta(joint.inputs[d_.derivative.targets[k]])));
  }

  // ---- the source, node by node ----------------------------------------------------------------------------------

  std::vector<Tensor> play(const Graph& g, const std::vector<Tensor>& inputs) {
    std::vector<Tensor> of(g.values.size());
    for (size_t i = 0; i < inputs.size(); ++i) of[g.inputs[i]] = inputs[i];
    for (const auto& [id, tensor] : g.constants) of[id] = tensor;
    for (const Node& n : g.nodes) {
      if (n.origin >= 0) emitter_.set_origin(g.origins[n.origin].file, g.origins[n.origin].line);
      const std::vector<Tensor> results = play(g, n, of);
      for (size_t r = 0; r < results.size(); ++r) of[n.results[r]] = results[r];
    }
    std::vector<Tensor> outputs;
    for (ValueId id : g.outputs) outputs.push_back(of[id]);
    return outputs;
  }

  std::vector<Tensor> play(const Graph& g, const Node& n, const std::vector<Tensor>& of) {
    std::vector<Tensor> operands;
    for (size_t a = 0; a < n.args.size(); ++a)
      operands.push_back(operand(n, a) == kNoId ? Tensor() : of[operand(n, a)]);
    switch (n.kind) {
      case NodeKind::Op: return play_op(n, of);
      case NodeKind::Fused: return play(*n.bodies[0], operands);
      case NodeKind::WriteView: return {play_write(n, of)};
      case NodeKind::AsTensor: return {emitter_.whole(emitter_.value_of(*operands[0]), Dims{}, 0)};
      case NodeKind::Switch: return play_switch(g, n, operands);
      case NodeKind::Call: return play_call(g, n, operands);
      case NodeKind::Pack: return play_pack(g, n, operands);
      case NodeKind::Unpack: return play_unpack(g, n, operands);
      case NodeKind::While:
      case NodeKind::HostCall:
        if (any_requires_grad(operands))
          throw InternalError(
              fmt::format("no gradient passes a {} of graph \"{}\"", kNodeNames[static_cast<int>(n.kind)], g.name));
        [[fallthrough]];
      case NodeKind::Item:
      case NodeKind::Assert: return repeat(g, n, operands);
    }
    return {};
  }

  std::vector<Tensor> play_op(const Node& n, const std::vector<Tensor>& of) {
    if (n.op->writes) throw InternalError(fmt::format("no gradient passes '{}', which writes", n.op->name));
    const ArgList args(n.args, [&](ValueId id) { return of[id]; });
    std::vector<Tensor> results;
    if (!n.op->is(kView) || args.args()[0].impl()->is_contiguous()) {
      call(*n.op, args.args(), results);
      return results;
    }
    try {
      call(*n.op, args.args(), results);
    } catch (const Error&) {  // values of a graph have no strides that a view could refuse
      static const Op* clone = find_op("clone");
      const ArgList others(
          n.args, [&](ValueId id) { return id == operand(n, 0) ? (*clone)(of[id], "contiguous_format") : of[id]; });
      results.clear();
      call(*n.op, others.args(), results);
    }
    return results;
  }

  Tensor play_write(const Node& n, const std::vector<Tensor>& of) {
    static const Op *clone = find_op("clone"), *copy = find_op("copy");
    const Tensor base = (*clone)(of[operand(n, 0)], "contiguous_format");
    std::vector<NodeArg> view_args = n.args;
    view_args.erase(view_args.begin() + 1);
    const ArgList args(view_args, [&](ValueId id) { return id == operand(n, 0) ? base : of[id]; });
    std::vector<Tensor> view;
    call(*n.op, args.args(), view);
    const Arg written[] = {Arg(view[0]), Arg(of[operand(n, 1)])};
    call_in_place(*copy, written);
    return base;
  }

  // ---- nodes that are no ops -------------------------------------------------------------------------------------

  /// The node as it is, on the joint graph's values.
  std::vector<Tensor> repeat(const Graph& g, const Node& n, const std::vector<Tensor>& operands) {
    Node node = n;
    node.args = args_of(operands);
    if (n.kind == NodeKind::Item) node.args = {Use{emitter_.value_of(*operands[0])}};
    return tensors_of(emit(std::move(node), metas_of(g, n.results)));
  }

  std::vector<Tensor> play_pack(const Graph& g, const Node& n, const std::vector<Tensor>& operands) {
    std::vector<Tensor> results = repeat(g, n, operands);
    if (!any_requires_grad(operands)) return results;
    std::vector<ValueMeta> metas;
    for (size_t a = 0; a < operands.size(); ++a)
      metas.push_back(operands[a].defined() ? g.meta(operand(n, a)) : ValueMeta::record());
    attach(n.kind, operands, results, [this, metas](autograd::Node&, const std::vector<Tensor>& grads) {
      return tensors_of(emit(NodeKind::Unpack, {Use{value_of(grads[0])}}, metas));
    });
    return results;
  }

  std::vector<Tensor> play_unpack(const Graph& g, const Node& n, const std::vector<Tensor>& operands) {
    std::vector<Tensor> results = repeat(g, n, operands);
    if (!any_requires_grad(operands)) return results;
    attach(n.kind, operands, results, [this](autograd::Node&, const std::vector<Tensor>& grads) {
      return tensors_of(emit(NodeKind::Pack, args_of(grads), {ValueMeta::record()}));
    });
    return results;
  }

  static std::vector<bool> wanted(const std::vector<Tensor>& operands) {
    std::vector<bool> wanted;
    for (const Tensor& t : operands) wanted.push_back(t.requires_grad());
    return wanted;
  }

  std::vector<Tensor> play_call(const Graph& g, const Node& n, const std::vector<Tensor>& operands) {
    if (!any_requires_grad(operands)) return repeat(g, n, operands);
    Differentiated::Site site;
    site.callees = {&callees_.graph(n.index, wanted(operands))};
    return play_site(g, n, operands, operands, std::move(site));
  }

  std::vector<Tensor> play_switch(const Graph& g, const Node& n, const std::vector<Tensor>& all) {
    const std::vector<Tensor> operands(all.begin() + 1, all.end());
    if (!any_requires_grad(operands)) return repeat(g, n, all);
    Differentiated::Site site;
    site.selector = value_of(all[0]);
    for (const auto& body : n.bodies) site.callees.push_back(&callees_.switch_case(body, wanted(operands)));
    return play_site(g, n, all, operands, std::move(site));
  }

  /// The forward variant of the node, and what its gradient comes to.
  std::vector<Tensor> play_site(const Graph& g, const Node& n, const std::vector<Tensor>& args,
                                const std::vector<Tensor>& operands, Differentiated::Site site) {
    Node node = n;
    node.bodies.clear();
    node.args = args_of(args);
    if (n.kind == NodeKind::Call) node.index = site.callees[0]->derivative.forward;
    std::vector<ValueMeta> metas = metas_of(g, n.results);
    metas.push_back(ValueMeta::record());
    std::vector<ValueId> made = emit(std::move(node), metas);
    site.forward = d_.joint.nodes.size() - 1;
    site.record = made.back();
    made.pop_back();
    for (const Tensor& t : operands) site.operands.push_back(value_of(t));
    const size_t number = d_.sites.size();
    d_.sites.push_back(std::move(site));
    std::vector<Tensor> results = tensors_of(made);
    attach(n.kind, operands, results,
           [this, number, made, kind = n.kind](autograd::Node&, const std::vector<Tensor>& grads) {
             return gradients_of_site(number, made, kind, grads);
           });
    return results;
  }

  std::vector<Tensor> gradients_of_site(size_t number, const std::vector<ValueId>& results, NodeKind kind,
                                        const std::vector<Tensor>& grads) {
    for (size_t r = 0; r < results.size(); ++r)
      if (const ValueMeta m = meta(results[r]); is_differentiable(m))
        d_.sites[number].tangents.push_back(gradient(grads[r], m));
    const Differentiated::Site& site = d_.sites[number];
    const std::vector<uint32_t>& targets = site.callees[0]->derivative.targets;
    std::vector<ValueMeta> metas;
    for (uint32_t i : targets) metas.push_back(meta(site.operands[i]));
    // It gets its arguments when it is known what the callees read: until then it uses the tangents.
    std::vector<NodeArg> args;
    for (ValueId id : site.tangents) args.push_back(Use{id});
    const std::vector<ValueId> made = emit(kind, std::move(args), metas);
    d_.sites[number].backward = d_.joint.nodes.size() - 1;
    std::vector<Tensor> gradients(site.operands.size());
    for (size_t k = 0; k < targets.size(); ++k) gradients[targets[k]] = tensor_of(made[k]);
    return gradients;
  }

  Differentiated& d_;
  const Graph& g_;
  Callees& callees_;
  GraphEmitter graph_emitter_;
};

}  // namespace

void build_joint(Differentiated& graph, Callees& callees) { JointBuilder(graph, callees).run(); }

}  // namespace terra::graph
