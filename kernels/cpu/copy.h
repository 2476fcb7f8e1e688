// Moving elements between strided views, and filling them.
#pragma once
#include "kernels/abi/scalar.h"
#include "kernels/abi/view.h"

namespace terra::cpu {

/// out[i] = in[i] with `in` broadcast to `out`; both have elements of one size, which are moved as they are.
void copy_elements(const View& out, const View& in);

/// The same with conversion where the dtypes differ.
void convert_elements(const View& out, const View& in);

/// Every element becomes `value`, converted to the view's dtype.
void fill_elements(const View& out, const Scalar& value);

/// Moves n elements from one strided row to another (strides in bytes).
using RowCopy = void (*)(char* out, int64_t out_stride, const char* in, int64_t in_stride, int64_t n);
/// The row copy for elements of that size.
RowCopy row_copy(size_t size);

}  // namespace terra::cpu
