// What the tape knows of one tensor.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "engine/autograd/node.h"
#include "engine/ops/op.h"

namespace terra::autograd {

/// How a view came about, as far as in-place writes to it are concerned: x.add_(1) changes the base, whose history has
/// to say so.
enum class ViewOrigin : uint8_t {
  Plain,
  OneOfMany,    ///< a, b = x.unbind(): the tape can't replace a part of what is one node's many results
  WithoutGrad,  ///< made in no_grad mode: whether the write is meant to be recorded nobody knows
  Inference,    ///< made in inference mode: as ambiguous
};

/// What the tape doesn't know of a write to such a view.
inline bool is_ambiguous(ViewOrigin origin) {
  return origin == ViewOrigin::WithoutGrad || origin == ViewOrigin::Inference;
}

/// One step of how a view was derived from its base; the chain is shared by views of views.
struct ViewStep {
  const Op* op = nullptr;
  OwnedArgs args;  ///< without the tensor (argument 0)
  std::shared_ptr<const ViewStep> previous;
  ViewOrigin origin = ViewOrigin::Plain;  ///< of the view that it leads to; views of views are of their origin
  uint32_t number = 0;                    ///< which of many
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

/// Whether the history of a view is derived anew when it is asked for (autograd::history).
bool has_outdated_history(const Tensor& t);

/// The meta of a tensor, or null.
Meta* find_meta(const Tensor& t);
/// The meta of a tensor, made on first use.
Meta& meta_of(const Tensor& t);

}  // namespace terra::autograd
