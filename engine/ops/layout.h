// How the elements of a tensor lie in memory: what layout the results of an op take, and copies in a given one.
#pragma once
#include <span>

#include "engine/ops/emitter.h"
#include "engine/tensor/dense.h"
#include "engine/tensor/tensor.h"

namespace terra {

// What a record says of the layout of the op's results, besides kElementwise: they lie as the operands do.
/// Results that are images or volumes lie channels last where an operand does, or where all tensors of a list do.
inline constexpr uint32_t kKeepsFormat = 1 << 22;
/// Elementwise, and yet results lie row by row whatever the operands do.
inline constexpr uint32_t kLiesByRows = 1 << 24;
/// The result lies as the parameter `memory_format`, a name, or `strides` says; by default as parameter 0 does.
inline constexpr uint32_t kLaidOutAsAsked = 1 << 23;

/// True iff the elements fill a range of memory, each place once, in whatever order of dimensions.
bool is_dense(const TensorImpl& t);

/// True iff the elements of `a` lie as those of `b`: with the same strides where `b` is dense, row by row where it
/// isn't or has other sizes. Dimensions of size 1 don't count.
bool is_laid_out_like(const TensorImpl& a, const TensorImpl& b);

/// A copy of `value` that is laid out like `like`.
Tensor copy_laid_out_like(const Tensor& value, const Tensor& like);

/// The strides that a fresh tensor of the sizes of `t` takes to preserve its layout: its own where it is dense, else
/// such that the dimensions follow each other in the same order without gaps.
Dims preserved_strides(const TensorImpl& t);

/// The strides of a copy of `t` in the format that `memory_format`, text or None, names: by default its own, preserved.
Dims strides_of_copy(const TensorImpl& t, const Arg& memory_format);

/// The dimensions of `t` as its elements lie in memory, from outer to inner: the order in which random numbers are
/// drawn for it. Empty where that is row by row.
Dims order_of_places(const TensorImpl& t);

/// A fresh tensor of the sizes of `like`, which lies as strides_of_copy says. `make` makes one of given sizes row by
/// row; where another order is asked for, it is given the sizes in that order: random numbers go by places in memory.
template <class Make>
Tensor made_like(const Tensor& like, const Arg& memory_format, Make&& make);

/// Gives the results that don't lie row by row their strides (ResultMeta::strides), as the record of the op says.
void lay_out_results(const Op& op, std::span<const Arg> args, std::span<ResultMeta> metas);

/// The same for the results of a composite whose record speaks of their layout: those that lie otherwise are replaced
/// by copies.
void lay_out_made(const Op& op, std::span<const Arg> args, std::span<Tensor> results);

// ---- implementation -------------------------------------------------------------------------------------------------

/// `rows` has the dimensions of a tensor of these strides from outer to inner: a copy that has them as the strides say.
Tensor in_place_of_rows(const Tensor& rows, const Dims& strides);

template <class Make>
Tensor made_like(const Tensor& like, const Arg& memory_format, Make&& make) {
  const Dims strides = strides_of_copy(*like, memory_format);
  if (strides == contiguous_strides(like.sizes())) return make(like.sizes());
  Dims sizes;
  for (int64_t d : from_outer_to_inner(strides)) sizes.push_back(like.sizes()[static_cast<size_t>(d)]);
  return in_place_of_rows(make(sizes), strides);
}

}  // namespace terra
