// The history of a tensor after one of its views was written in place.
#pragma once
#include "engine/autograd/meta.h"

namespace terra::autograd {

/// base' = base with view(base) replaced by f(view(base), ...). Gradient: outside the view it goes on to the old base;
/// inside it goes through f's node, whose gradient for the view's old value joins the old base's.
class SlicesNode final : public Node {
 public:
  SlicesNode(Edge before, Ref<Node> write, std::shared_ptr<const ViewStep> view, const Tensor& base);

  std::vector<Tensor> apply(const std::vector<Tensor>& grads) override;
  std::string name() const override { return "CopySlices"; }
  bool calls_program() const override { return write_->calls_program(); }
  void release_saved() override { write_->release_saved(); }
  bool released() const override { return write_->released(); }
  const TensorMeta* result_meta(uint32_t) const override { return &base_; }

 private:
  Ref<Node> write_;  // its edge 0 is the view's old value, which this node serves through the base
  std::shared_ptr<const ViewStep> view_;
  TensorMeta base_;
  Dims strides_;  ///< in which copies of the base lie
};

}  // namespace terra::autograd
