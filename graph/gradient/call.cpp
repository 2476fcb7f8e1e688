#include "graph/gradient/call.h"

#include "engine/autograd/autograd.h"
#include "engine/ops/call.h"
#include "graph/gradient/node_emitter.h"

namespace terra::graph {

std::vector<Tensor> CallEmitter::call(GraphId id, const std::vector<Tensor>& operands) {
  NodeEmitter nodes(emitter_);
  Node node;
  node.kind = NodeKind::Call;
  node.index = id;
  node.args = nodes.args_of(operands);
  if (has_effects(table_.at(id), &table_)) node.chain = kAssertChain;
  const bool records = grad_enabled() && NodeEmitter::any_requires_grad(operands);
  std::vector<bool> wanted;
  for (const Tensor& t : operands) wanted.push_back(records && t.requires_grad());
  const Derivative* derivative = records ? &derivatives_.of(id, wanted) : nullptr;
  if (records) node.index = derivative->forward;
  const Graph& callee = table_.at(node.index);
  std::vector<Tensor> results = nodes.tensors_of(nodes.emit(std::move(node), metas_of(callee, callee.outputs)));
  if (!records) return results;
  Given given;
  for (const Tensor& t : operands) {
    given.values.push_back(nodes.value_of(t));
    given.histories.push_back(t.requires_grad() ? autograd::gradient_edge(t) : autograd::Edge());
  }
  const auto last = static_cast<uint32_t>(results.size()) - 1;
  // The record has a gradient where gradients are differentiated: the forward variant is then what was called.
  nodes.attach(NodeKind::Call, operands, results,
               [this, derivative, wanted, given, last, record = nodes.value_of(results.back())](
                   autograd::Node& node, const std::vector<Tensor>& grads) {
                 const std::vector<Tensor> had = tensors_of(given);
                 if (grads[last].defined()) {
                   const Derivative& of_forward = derivatives_.of(derivative->forward, wanted);
                   return gradients(of_forward, call(of_forward.forward, had).back(), had, grads);
                 }
                 const Tensor kept = NodeEmitter(emitter_).tensor_of(record);
                 if (grad_enabled()) autograd::set_history(kept, Ref<autograd::Node>(&node), last);
                 return gradients(*derivative, kept, had, grads);
               });
  results.pop_back();
  return results;
}

std::vector<Tensor> CallEmitter::tensors_of(const Given& given) {
  std::vector<Tensor> tensors = NodeEmitter(emitter_).tensors_of(given.values);
  if (!grad_enabled()) return tensors;
  for (size_t i = 0; i < tensors.size(); ++i)
    if (const autograd::Edge& edge = given.histories[i]; edge.node)
      autograd::set_history(tensors[i], edge.node, edge.index);
  return tensors;
}

std::vector<Tensor> CallEmitter::gradients(const Derivative& derivative, const Tensor& record,
                                           const std::vector<Tensor>& operands, const std::vector<Tensor>& grads) {
  NodeEmitter nodes(emitter_);
  const Graph& forward = table_.at(derivative.forward);
  std::vector<Tensor> given = {record};
  for (uint32_t i : derivative.reads) given.push_back(operands[i]);
  for (uint32_t o : derivative.tangents)
    given.push_back(grads[o].defined() ? grads[o]
                                       : nodes.tensor_of(nodes.gradient({}, forward.meta(forward.outputs[o]))));
  const std::vector<Tensor> made = call(derivative.backward, given);
  std::vector<Tensor> all(operands.size());
  for (size_t k = 0; k < derivative.targets.size(); ++k) all[derivative.targets[k]] = made[k];
  return all;
}

}  // namespace terra::graph
