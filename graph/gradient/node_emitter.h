// Nodes that are no ops, emitted on symbolic tensors and recorded on the tape.
#pragma once
#include <functional>
#include <vector>

#include "engine/autograd/node.h"
#include "graph/gradient/derivative.h"
#include "graph/trace/emitter.h"

namespace terra::graph {

/// Scalars, handles and records of the graph are stood for by tensors without dimensions, so that the tape knows what
/// leads to a record and what comes from one.
class NodeEmitter {
 public:
  explicit NodeEmitter(GraphEmitter& emitter) : emitter_(emitter) {}

  const ValueMeta& meta(ValueId id) const { return emitter_.meta(id); }
  Tensor tensor_of(ValueId id);
  std::vector<Tensor> tensors_of(const std::vector<ValueId>& ids);
  ValueId value_of(const Tensor& tensor);
  /// As arguments: undefined ones are absent.
  std::vector<NodeArg> args_of(const std::vector<Tensor>& tensors);

  std::vector<ValueId> emit(NodeKind kind, std::vector<NodeArg> args, const std::vector<ValueMeta>& results);
  std::vector<ValueId> emit(Node node, const std::vector<ValueMeta>& results) {
    return emitter_.emit_node(std::move(node), results);
  }
  /// What a gradient is: nothing has arrived where it is undefined, which is zeros or an empty record.
  ValueId gradient(const Tensor& gradient, ValueMeta meta);

  /// From a gradient for each result of `node` to one for each operand.
  using Rule = std::function<std::vector<Tensor>(autograd::Node& node, const std::vector<Tensor>& grads)>;
  /// Results of a node on operands get a history.
  void attach(NodeKind kind, const std::vector<Tensor>& operands, const std::vector<Tensor>& results, Rule rule);
  static bool any_requires_grad(const std::vector<Tensor>& tensors);

 protected:
  GraphEmitter& emitter_;
};

std::vector<ValueMeta> metas_of(const Graph& graph, const std::vector<ValueId>& ids);

}  // namespace terra::graph
