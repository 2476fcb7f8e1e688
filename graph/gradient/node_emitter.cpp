#include "graph/gradient/node_emitter.h"

#include <fmt/format.h>

#include "engine/autograd/autograd.h"
#include "engine/ops/call.h"
#include "graph/ir/names.h"

namespace terra::graph {
namespace {

/// The gradient of a node that is no op.
class NodeGradient final : public autograd::Node {
 public:
  NodeGradient(NodeKind kind, NodeEmitter::Rule rule) : kind_(kind), rule_(std::move(rule)) {}

  std::vector<Tensor> apply(const std::vector<Tensor>& grads) override { return rule_(*this, grads); }
  std::string name() const override { return fmt::format("{}Backward0", kNodeNames[static_cast<int>(kind_)]); }

 private:
  const NodeKind kind_;
  const NodeEmitter::Rule rule_;
};

}  // namespace

Tensor NodeEmitter::tensor_of(ValueId id) {
  const ValueMeta& m = meta(id);
  switch (m.kind) {
    case ValueKind::Tensor: return emitter_.whole(id, contiguous_strides(m.sizes), 0);
    case ValueKind::Scalar: return emitter_.number(id);
    default: return Tensor::symbolic({DType::F32, {}}, std::make_unique<TensorSymbol>(id));
  }
}

std::vector<Tensor> NodeEmitter::tensors_of(const std::vector<ValueId>& ids) {
  std::vector<Tensor> tensors;
  for (ValueId id : ids) tensors.push_back(tensor_of(id));
  return tensors;
}

ValueId NodeEmitter::value_of(const Tensor& tensor) {
  const ValueId other = GraphEmitter::scalar_of(*tensor);
  return other != kNoId ? other : emitter_.value_of(*tensor);
}

std::vector<NodeArg> NodeEmitter::args_of(const std::vector<Tensor>& tensors) {
  std::vector<NodeArg> args;
  for (const Tensor& t : tensors) args.push_back(t.defined() ? NodeArg(Use{value_of(t)}) : NodeArg());
  return args;
}

std::vector<ValueId> NodeEmitter::emit(NodeKind kind, std::vector<NodeArg> args,
                                       const std::vector<ValueMeta>& results) {
  Node node;
  node.kind = kind;
  node.args = std::move(args);
  return emit(std::move(node), results);
}

ValueId NodeEmitter::gradient(const Tensor& gradient, ValueMeta meta) {
  if (gradient.defined()) return value_of(gradient);
  if (meta.kind == ValueKind::Record) return emit(NodeKind::Pack, {}, {meta})[0];
  static const Op* full = find_op("full");
  const GradMode off(false);
  const DeviceScope scope(meta.device);
  return value_of((*full)(meta.sizes, 0, meta.dtype));
}

void NodeEmitter::attach(NodeKind kind, const std::vector<Tensor>& operands, const std::vector<Tensor>& results,
                         Rule rule) {
  const Ref<autograd::Node> node(new NodeGradient(kind, std::move(rule)));
  for (const Tensor& t : operands)
    node->edges.push_back(t.defined() && t.requires_grad() ? autograd::gradient_edge(t) : autograd::Edge());
  node->results = static_cast<uint32_t>(results.size());
  for (uint32_t r = 0; r < results.size(); ++r)
    if (is_differentiable(meta(value_of(results[r])))) autograd::set_history(results[r], node, r);
}

bool NodeEmitter::any_requires_grad(const std::vector<Tensor>& tensors) {
  for (const Tensor& t : tensors)
    if (t.defined() && t.requires_grad()) return true;
  return false;
}

bool is_differentiable(const ValueMeta& meta) {
  return meta.kind == ValueKind::Record || (meta.is_tensor() && is_inexact(meta.dtype));
}

std::vector<ValueMeta> metas_of(const Graph& graph, const std::vector<ValueId>& ids) {
  std::vector<ValueMeta> metas;
  for (ValueId id : ids) metas.push_back(graph.meta(id));
  return metas;
}

}  // namespace terra::graph
