// How the elements of a tensor lie in memory, and copies that lie as those of another tensor.
#pragma once
#include "engine/tensor/tensor.h"

namespace terra {

/// True iff the elements fill a range of memory, each place once, in whatever order of dimensions.
bool is_dense(const TensorImpl& t);

/// True iff the elements of `a` lie as those of `b`: with the same strides where `b` is dense, row by row where it
/// isn't or has other sizes. Dimensions of size 1 don't count.
bool is_laid_out_like(const TensorImpl& a, const TensorImpl& b);

/// A copy of `value` that is laid out like `like`.
Tensor copy_laid_out_like(const Tensor& value, const Tensor& like);

}  // namespace terra
