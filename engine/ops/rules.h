// Shape rules and small helpers that several families share.
#pragma once
#include <string_view>

#include "engine/ops/backward.h"
#include "engine/ops/composition.h"
#include "engine/ops/inference.h"
#include "engine/ops/op.h"

namespace terra {

// How Python sees an op: the combinations that recur.
inline constexpr uint32_t kVisible = kFunction | kMethod;
inline constexpr uint32_t kVisibleInPlace = kVisible | kInPlace;
inline constexpr uint32_t kElementwiseMath = kVisibleInPlace | kElementwise;

namespace rules {

/// All tensor operands broadcast together; the common dtype, or bool for kCompares.
void elementwise(Inference& f);
/// The same, refusing floats in PyTorch's words.
void elementwise_integral(Inference& f);
/// dtype and sizes of parameter 0.
void like_first(Inference& f);

}  // namespace rules

/// The name PyTorch's "not implemented for 'Long'" messages use.
std::string_view scalar_type_name(DType dtype);

/// The dtype an optional parameter names.
inline DType dtype_or(const Arg& a, DType otherwise) { return a.is_none() ? otherwise : a.dtype(); }

/// Dimensions in [0, rank), as a bit mask; none given means all. Throws for repeated ones.
uint64_t dim_mask(std::span<const int64_t> dims, size_t rank);
/// Sizes after reducing the dimensions in `mask`.
Dims reduced_sizes(std::span<const int64_t> sizes, uint64_t mask, bool keepdim);
/// The dimensions parameter of a reduction: None and [] mean all.
uint64_t dim_mask(const Arg& dims, size_t rank);

/// The integer in a tensor of one element, for composites whose result sizes depend on values: throws InternalError for
/// a tensor that has no value yet.
int64_t known_integer(const Tensor& t);

/// A reduction's result (or its gradient), brought back to the rank of its operand: size 1 where it was reduced.
Tensor restore_dims(const Tensor& t, const Arg& dims, const Dims& sizes, bool keepdim);

}  // namespace terra
