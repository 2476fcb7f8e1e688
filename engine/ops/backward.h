// What a gradient rule sees. Rules emit ops, so the same rule serves the tape, the graph and higher derivatives.
#pragma once
#include <algorithm>
#include <vector>

#include "engine/ops/op.h"

namespace terra {

/// The gradient of one call: from the gradients of its results to those of its parameters. Gradients set for operands
/// that were broadcast or promoted are summed to the operand's shape and converted to its dtype by the caller, so
/// rules read as the formulas do:  b.set(0, b.grad() * b.in(1)).
class Backward {
 public:
  /// Filled in by the tape (or by whoever differentiates): everything is borrowed for the length of the rule.
  /// Brings a saved tensor when the rule first asks for it: one that a rule doesn't read may have been overwritten.
  struct Source {
    virtual void load_param(int i) = 0;   ///< fills in args[i]
    virtual void load_result(int i) = 0;  ///< fills in results[i]

   protected:
    ~Source() = default;
  };
  struct Call {
    const Op* op = nullptr;
    Source* source = nullptr;              ///< null: everything is filled in
    std::span<const Arg> args;             ///< unsaved tensors are None
    std::span<const Tensor> results;       ///< unsaved ones are undefined
    std::span<const TensorMeta> metas;     ///< of all tensors among the arguments, list elements one by one
    std::span<const uint16_t> first_meta;  ///< of parameter p: metas[first_meta[p] .. first_meta[p + 1])
    std::span<const TensorMeta> result_metas;
    std::span<const Tensor> grads;  ///< one per result; undefined where no gradient arrived
    uint32_t needed = 0;            ///< bit p: somebody wants the gradient of parameter p
  };
  /// `out`: the gradients, of all tensors among the arguments as `metas`.
  Backward(const Call& call, std::span<Tensor> out) : call_(call), out_(out) {}

  /// Gradient of result i; zeros if none arrived.
  Tensor grad(int i = 0) const;
  bool has_grad(int i) const { return call_.grads[i].defined(); }
  /// Saved operand i (declared in `saved`) as it was in the forward call: a tensor, a number, or None.
  const Arg& arg(int i) const {
    if (call_.source) call_.source->load_param(i);
    return call_.args[i];
  }
  Tensor in(int i) const { return arg(i).tensor(); }
  std::span<const Tensor> in_list(int i) const { return arg(i).tensors(); }
  /// True iff parameter i was given.
  bool has(int i) const { return !call_.args[i].is_none() || call_.first_meta[i + 1] > call_.first_meta[i]; }
  /// Saved result i.
  const Tensor& out(int i = 0) const {
    if (call_.source) call_.source->load_result(i);
    return call_.results[i];
  }
  const Dims& sizes(int i) const { return call_.metas[call_.first_meta[i]].sizes; }
  DType dtype(int i) const { return call_.metas[call_.first_meta[i]].dtype; }
  /// Metadata of every element of list parameter i.
  std::span<const TensorMeta> list(int i) const {
    return call_.metas.subspan(call_.first_meta[i], call_.first_meta[i + 1] - call_.first_meta[i]);
  }
  const Dims& out_sizes(int i = 0) const { return call_.result_metas[i].sizes; }
  std::span<const int64_t> ints(int i) const { return call_.args[i].ints(); }
  int64_t integer(int i) const { return call_.args[i].scalar().to_int(); }
  double real(int i) const { return call_.args[i].scalar().to_double(); }
  bool flag(int i) const { return call_.args[i].scalar().to_bool(); }
  std::string_view text(int i) const { return call_.args[i].text(); }

  /// True iff the gradient of parameter i is wanted.
  bool needs(int i) const { return (call_.needed >> i & 1) != 0; }
  /// A parameter that was not given has no gradient: nothing is set.
  void set(int i, Tensor gradient) {
    if (call_.first_meta[i + 1] > call_.first_meta[i]) out_[call_.first_meta[i]] = std::move(gradient);
  }
  /// Gradients of a list parameter, one per element.
  void set_list(int i, std::vector<Tensor> gradients) {
    std::move(gradients.begin(), gradients.end(), out_.begin() + call_.first_meta[i]);
  }

 private:
  const Call& call_;
  const std::span<Tensor> out_;
};

}  // namespace terra
