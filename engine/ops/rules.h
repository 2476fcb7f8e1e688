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
// More facts about an op.
/// Composites: a result may be an argument or a view of one. Results of others are copied where they are.
inline constexpr uint32_t kMayAlias = 1 << 8;
/// The in-place form writes where an index says: no operand may lie in that memory.
inline constexpr uint32_t kScatters = 1 << 13;
/// The in-place form has read its operands before it writes: they may lie in that memory.
inline constexpr uint32_t kReadsFirst = 1 << 14;
/// The in-place form writes one value everywhere: a target may show an element of its memory more than once.
inline constexpr uint32_t kWritesOneValue = 1 << 15;
/// Floats of 16 bits and wider ones don't meet: the shape rule sees them as they are and refuses.
inline constexpr uint32_t kSameFloats = 1 << 21;
/// A bool operand beside others, which promotion would make a number, is refused: 1 - mask meant ~mask.
inline constexpr uint32_t kRefusesBool = 1u << 31;
/// The slope is constant between kinks. What the gradient rule gives counts as a function of parameter 0 all the same,
/// one of slope 0, as in PyTorch: it requires grad where gradients are recorded.
inline constexpr uint32_t kPiecewise = 1 << 26;
inline constexpr uint32_t kElementwiseMath = kVisibleInPlace | kElementwise;

namespace rules {

/// All tensor operands broadcast together; the common dtype, or bool for kCompares.
void elementwise(Inference& f);
/// Throws if the operands of two are both numbers.
void check_any_tensor(Inference& f);
/// `elementwise` of a tensor and something, refusing floats in PyTorch's words.
void elementwise_integral(Inference& f);
/// Refuses numbers for parameters 1 and 2, a lower and an upper bound, that lie beyond all integers of the common
/// dtype.
void check_bounds(Inference& f);
/// dtype and sizes of parameter 0.
void like_first(Inference& f);

}  // namespace rules

/// A dtype as PyTorch's messages about products name it: float, long int, c10::Half.
std::string_view c_type_name(DType dtype);

/// The dtype an optional parameter names.
inline DType dtype_or(const Arg& a, DType otherwise) { return a.is_none() ? otherwise : a.dtype(); }

/// Dimensions in [0, rank), as a bit mask; none given means all. Throws for repeated ones.
uint64_t dim_mask(std::span<const int64_t> dims, size_t rank);
/// Sizes after reducing the dimensions in `mask`.
Dims reduced_sizes(std::span<const int64_t> sizes, uint64_t mask, bool keepdim);
/// The dimensions parameter of a reduction: None and [] mean all.
uint64_t dim_mask(const Arg& dims, size_t rank);

/// Throws where elements of that dtype can't hold the number at all: infinity, NaN and 300 among bytes.
void check_holds(const Scalar& value, DType dtype);
/// Whether a number lies beyond what an integer or a float32 can be; infinities are in every float.
bool is_out_of_range(const Scalar& value, DType dtype);

/// Throws what PyTorch says of a kernel that has nothing for bools and barebones integers, if it is one of those.
void check_has_kernel(std::string_view kernel, DType dtype);

/// Throws at once what making a tensor of that size would throw, for composites that have much to do before they make
/// it.
void check_room(std::span<const int64_t> sizes, DType dtype);

/// The number in a tensor of one element, for composites whose results depend on it: throws InternalError for a tensor
/// that has no value yet.
Scalar known_number(const Tensor& t);
inline int64_t known_integer(const Tensor& t) { return known_number(t).to_int(); }

/// A reduction's result (or its gradient), brought back to the rank of its operand: size 1 where it was reduced.
Tensor restore_dims(const Tensor& t, const Arg& dims, const Dims& sizes, bool keepdim);

}  // namespace terra
