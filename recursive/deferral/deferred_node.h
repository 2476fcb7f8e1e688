// The gradient of calls that have been put off: their batches in reverse.
#pragma once
#include "engine/autograd/folded_node.h"
#include "recursive/deferral/deferred_calls.h"

namespace terra::recursive {

/// One node for all of them, whose results are theirs. Where a program asks for more than gradients that pass all calls
/// (the gradient of something in between, a hook there, a gradient of a gradient), the calls are played again, op by op
/// on the tape, and that history takes the node's place.
class DeferredNode final : public autograd::FoldedNode {
 public:
  explicit DeferredNode(std::shared_ptr<DeferredCalls> calls);
  ~DeferredNode() override;

  std::vector<Tensor> apply(const std::vector<Tensor>& grads) override;
  std::string name() const override { return "DeferredBackward0"; }
  void select(const std::vector<bool>* wanted) override;
  void release_saved() override;
  bool released() const override;
  const TensorMeta* result_meta(uint32_t result) const override;
  autograd::Edge unfolded(uint32_t result) override;
  /// What is computed from calls made again has their history.
  void come_apart() override;

  /// The calls have been played op by op: that history takes the node's place. `memory`: of DeferredCalls::play.
  void unfold(std::vector<Tensor> made, const StandIns& memory);
  /// Where the gradient of a tensor from outside goes.
  void add_edge(uint32_t tensor, const autograd::Edge& to);

 private:
  /// A pass through the node: by result, whether it has brought a gradient; by edge, whether it has asked for one.
  struct Passage {
    std::vector<bool> given, wanted;
    bool operator==(const Passage&) const = default;
  };

  bool is_as_it_was() const;
  Passage through_spent() const;
  std::vector<Tensor> replay(const std::vector<bool>& wanted) const;
  void release(const std::vector<autograd::Edge>& histories, const Passage& passage) const;
  std::vector<Tensor> apply_again(const std::vector<Tensor>& grads);
  std::vector<Tensor> by_edge(const std::vector<Tensor>& by_tensor) const;

  std::shared_ptr<DeferredCalls> calls_;
  std::vector<uint32_t> tensors_;  ///< by edge
  std::vector<Tensor> replayed_;   ///< by result, once unfolded
  Passage last_;
  std::vector<Passage> freed_by_;  ///< those that have freed what they passed
  std::vector<bool> reached_;      ///< by call: the last pass has gone through it
  std::vector<bool> spent_;        ///< by call: one that frees has
};

}  // namespace terra::recursive
