// What a shape rule sees.
#pragma once
#include <vector>

#include "engine/errors/errors.h"
#include "engine/ops/emitter.h"

namespace terra {

/// Arguments after promotion, and the results to fill in. Errors thrown here are the user's: word them as PyTorch does.
class Inference {
 public:
  Inference(const Op& op, std::span<const Arg> args, DType common, std::vector<ResultMeta>& results)
      : op(op), args_(args), common(common), results_(results) {}

  const Op& op;
  const Arg& arg(int i) const { return args_[i]; }
  bool has(int i) const { return !args_[i].is_none(); }
  /// Shape of operand i; a Python number has rank 0.
  std::span<const int64_t> sizes(int i) const {
    return args_[i].is_tensor() ? std::span<const int64_t>(args_[i].impl()->sizes) : std::span<const int64_t>();
  }
  size_t rank(int i) const { return sizes(i).size(); }
  DType dtype(int i) const { return args_[i].is_tensor() ? args_[i].impl()->dtype : args_[i].scalar().dtype(); }
  std::span<const Tensor> tensors(int i) const { return args_[i].tensors(); }
  std::span<const int64_t> ints(int i) const { return args_[i].ints(); }
  int64_t integer(int i) const { return args_[i].scalar().to_int(); }
  double real(int i) const { return args_[i].scalar().to_double(); }
  bool flag(int i) const { return args_[i].scalar().to_bool(); }
  std::string_view text(int i) const { return args_[i].text(); }
  const TensorImpl& impl(int i) const { return *args_[i].impl(); }

 private:
  std::span<const Arg> args_;

 public:
  /// The promoted dtype of the operands (Promotion::Common or Floating).
  const DType common;

  /// Appends a fresh result.
  void result(DType dtype, Dims sizes) { results_.push_back({{dtype, std::move(sizes)}, {}, 0}); }
  /// Appends a view of parameter 0. Strides and offset are in elements; symbolic tensors ignore them.
  void view(Dims sizes, Dims strides, int64_t offset) { view(dtype(0), std::move(sizes), std::move(strides), offset); }
  /// The same whose elements are of another dtype, in which strides and offset count.
  void view(DType dtype, Dims sizes, Dims strides, int64_t offset) {
    results_.push_back({{dtype, std::move(sizes)}, std::move(strides), offset});
  }

 private:
  std::vector<ResultMeta>& results_;
};

}  // namespace terra
