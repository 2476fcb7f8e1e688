#include "engine/autograd/slices_node.h"

#include "engine/ops/layout.h"

namespace terra::autograd {

SlicesNode::SlicesNode(Edge before, Ref<Node> write, std::shared_ptr<const ViewStep> view, const Tensor& base)
    : write_(std::move(write)),
      view_(std::move(view)),
      base_{base.dtype(), base.sizes(), false, base.device()},
      strides_(preserved_strides(*base)) {
  edges = write_->edges;
  edges[0] = before;
  // The node of the write must compute the view's gradient whenever the base wants one.
  write_->edges[0] = before;
}

std::vector<Tensor> SlicesNode::apply(const std::vector<Tensor>& grads) {
  static const Op* clone = find_op("clone");
  static const Op* clone_strided = find_op("clone_strided");
  static const Op* copy = find_op("copy");
  static const Op* zeros_like = find_op("zeros_like");
  if (!grads[0].defined()) return std::vector<Tensor>(edges.size());
  // In the order of the base, whatever layout the gradient came in: there the steps lead to a view as they did.
  const Tensor whole = (*clone_strided)(grads[0], strides_);
  const Tensor inside = derive_view(*view_, whole);
  std::vector<Tensor> out = write_->apply({(*clone)(inside)});
  copy->in_place(inside, out[0].defined() ? out[0] : (*zeros_like)(inside));
  out[0] = whole;
  return out;
}

}  // namespace terra::autograd
