// Calls on symbolic tensors, which the tape records.
#pragma once
#include <vector>

#include "engine/autograd/node.h"
#include "graph/gradient/derivative.h"
#include "graph/trace/emitter.h"

namespace terra::graph {

/// Emits calls of a table's graphs. Where gradients are recorded and an operand requires grad, it is the forward
/// variant that is called, and a pass over the tape calls the backward graph: with gradients enabled again in the same
/// way, so that derivatives of any order are calls. The table has to be the emitted graph's in the end.
class CallEmitter {
 public:
  CallEmitter(GraphEmitter& emitter, GraphTable& table) : emitter_(emitter), table_(table), derivatives_(table) {}
  CallEmitter(const CallEmitter&) = delete;

  /// One tensor for each result; scalars and records are stood for by tensors without dimensions. The tape's nodes
  /// refer to this object.
  std::vector<Tensor> call(GraphId id, const std::vector<Tensor>& operands);

 private:
  /// Values that were given to a call, with the histories that they had: nothing that is written since changes them.
  struct Given {
    std::vector<ValueId> values;
    std::vector<autograd::Edge> histories;
  };
  std::vector<Tensor> tensors_of(const Given& given);
  std::vector<Tensor> gradients(const Derivative& derivative, const Tensor& record, const std::vector<Tensor>& operands,
                                const std::vector<Tensor>& grads);

  GraphEmitter& emitter_;
  GraphTable& table_;
  Derivatives derivatives_;
};

}  // namespace terra::graph
