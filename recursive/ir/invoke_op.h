// The call of a SubGraph: an ordinary node of the body that it is written in.
#pragma once
#include "recursive/ir/sub_graph.h"

namespace terra {

class InvokeOp {
 public:
  explicit InvokeOp(const SubGraph& callee) : callee_(callee) {}

  /// The results, in the body that is being written. The callee needs no body yet, but its inputs and results. Throws
  /// Error for operands that aren't what it declares.
  std::vector<Tensor> operator()(const std::vector<Operand>& operands) const;
  template <class... A>
  std::vector<Tensor> operator()(const A&... operands) const {
    return (*this)(std::vector<Operand>{Operand(operands)...});
  }

 private:
  SubGraph callee_;
};

/// The only element of a tensor as a number of the host: a bool, int or float. It may choose a way, be handed to a
/// SubGraph, and be read by the host inside of either. All calls that wait for such numbers get them at once: calls of
/// a batch of structures advance level by level. Throws Error for tensors of more elements, and complex ones.
HostSymbol item(const Tensor& tensor);

using Way = std::function<std::vector<Tensor>()>;

/// One of two ways, by a truth that the host decides or a tensor holds. Both return tensors of the same kinds.
std::vector<Tensor> cond(const HostSymbol& truth, const Way& if_true, const Way& if_false);
/// The way with that number, the last one where there is none.
std::vector<Tensor> switch_case(const HostSymbol& number, const std::vector<Way>& ways);

}  // namespace terra
