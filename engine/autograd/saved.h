// A tensor kept for backward.
#pragma once
#include <string>

#include "engine/autograd/node.h"

namespace terra::autograd {

/// Holds an alias of the tensor (never the tensor itself, whose history may come to include the saving node) with the
/// version it had, and where its gradient goes.
class SavedTensor {
 public:
  SavedTensor() = default;
  /// `is_result`: the tensor is a result of the saving node, whose reference would be a cycle; `unpack` gets it.
  SavedTensor(const Tensor& t, bool is_result, uint32_t result_index = 0);

  bool defined() const { return alias_.defined(); }
  /// The tensor as it was, with its history if gradients are enabled. Throws if its storage was written since.
  Tensor unpack(const Ref<Node>& owner) const;
  /// Its memory, whatever is there by now, without a history.
  const Tensor& unchecked() const { return alias_; }

 private:
  Tensor alias_;
  Edge edge_;
  uint32_t version_ = 0;
  uint32_t result_index_ = 0;
  bool is_result_ = false;
  bool requires_grad_ = false;
};

}  // namespace terra::autograd
