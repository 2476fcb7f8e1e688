// The tape node of an op call: calls the gradient rule of the op's record.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/autograd/saved.h"
#include "engine/autograd/weight_products.h"
#include "engine/ops/backward.h"

namespace terra::autograd {

class OpNode final : public Node {
 public:
  /// Saves what the record declares of `args`; results are saved by `save_results` when they exist.
  OpNode(const Op& op, std::span<const Arg> args);
  void save_results(std::span<const Tensor> results);

  std::vector<Tensor> apply(const std::vector<Tensor>& grads) override;
  void select(const std::vector<bool>* wanted) override;
  /// Of a product with a weight, the operand of edge 1: what the gradient of few rows adds to the weight's, where that
  /// is larger than what it is made of. The next apply() then leaves it out.
  std::optional<WeightRows> put_off_weight(const Tensor& grad);
  std::string name() const override;
  /// Unpacks what is saved.
  bool calls_program() const override;
  void rename(std::string_view name) override { name_ = name; }
  void stand_for(std::vector<Edge> operands) override {
    operands_ = std::make_unique<std::vector<Edge>>(std::move(operands));
  }
  std::vector<int> seen_edges() const override;
  std::vector<Edge> seen() const override { return operands_ ? *operands_ : Node::seen(); }
  void release_saved() override;
  bool released() const override { return released_; }
  void each_saved(const std::function<void(const SavedTensor&)>& visit) const override;
  /// What is kept of a parameter by its name, or of a result ("result", "result1", ...); null if nothing is.
  const SavedTensor* saved(std::string_view name) const;
  const TensorMeta* result_meta(uint32_t i) const override { return &metas_[edges.size() + i]; }
  const TensorMeta* whole_meta() const override;
  Tensor place_in(const Tensor& whole) const override;

 private:
  struct Loader;

  size_t params() const { return op_.sig().params.size(); }
  /// With gradients recorded: those that don't require grad become functions of operand 0 (kPiecewise).
  void depend_on_operand(std::vector<Tensor>& gradients) const;

  const Op& op_;
  std::string_view name_;                        // of a record; empty: the op's own
  std::unique_ptr<std::vector<Edge>> operands_;  // of the composite whose last part this is
  OwnedArgs constants_;                          // numbers, lists, strings; tensors are None
  // Of the tensors among the arguments, one by one; undefined if not declared. Empty if none is.
  std::vector<SavedTensor> saved_;
  std::vector<SavedTensor> saved_results_;                // the same of the results; empty if no rule asks for them
  std::vector<TensorMeta> metas_;                         // of the tensors among the arguments, then of the results
  std::array<uint16_t, kMaxParams + 1> first_meta_ = {};  // per parameter, and the end
  uint32_t left_out_ = 0;  // parameters whose gradients the next apply() is not asked for
  bool released_ = false;
};

/// How PyTorch's node of a call shows an operand.
enum class Sight : uint8_t {
  None,     ///< not at all
  Nowhere,  ///< by an edge that leads nowhere
  Edge,     ///< by its edge
};
Sight sight_of(const Op& op, size_t param, const Arg& arg);

}  // namespace terra::autograd
