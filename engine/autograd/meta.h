// What the tape knows of one tensor.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "engine/autograd/node.h"
#include "engine/ops/op.h"

namespace terra::autograd {

/// One step of how a view was derived from its base; the chain is shared by views of views.
struct ViewStep {
  const Op* op = nullptr;
  OwnedArgs args;  ///< without the tensor (argument 0)
  std::shared_ptr<const ViewStep> previous;
};

/// Applies the steps to another tensor of the base's shape.
Tensor derive_view(const ViewStep& last, const Tensor& base);

using TensorHook = std::function<Tensor(const Tensor&)>;

struct Meta final : AutogradMeta {
  Tensor grad;                 ///< while nothing is `retained`
  Edge history;                ///< the call that made this tensor; null for leaves
  Node* accumulate = nullptr;  ///< leaf: its AccumulateGrad while one is alive (borrowed; it clears this when it dies)
  std::shared_ptr<Tensor> retained;  ///< non-leaf with retain_grad(): its gradient, which the history's node adds to
  std::vector<std::pair<uint64_t, TensorHook>> hooks;  ///< of leaves; those of other tensors are with their node

  // Views: differentiable aliases of another tensor.
  Tensor base;
  std::shared_ptr<const ViewStep> view;
  uint32_t history_version = 0;  ///< views: storage version that `history` is true for

  bool learn_from_base(const TensorImpl& view) override;
};

/// The meta of a tensor, or null.
Meta* find_meta(const Tensor& t);
/// The meta of a tensor, made on first use.
Meta& meta_of(const Tensor& t);

}  // namespace terra::autograd
