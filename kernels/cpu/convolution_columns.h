// Convolution as matrix products over unfolded images, for what oneDNN doesn't compute: other dtypes, and attributes
// beyond its range.
#pragma once
#include "kernels/cpu/convolution.h"

namespace terra::cpu {

/// The columns of one image, [taps of all channels, output pixels]: what each tap of each window reads, 0 outside. For
/// one group.
template <class T>
void unfold_image(const ConvShape& shape, const T* image, T* columns);
/// The transpose: every tap is added to the pixel that it was read from.
template <class T>
void fold_image(const ConvShape& shape, const T* columns, T* image);

/// Elements of scratch that one pass wants.
int64_t column_elements(const ConvShape& shape);

/// Plain NCHW and OIHW operands; `columns` is the scratch. Images are taken in order and threads work inside the
/// products, so results don't depend on their number. T: any type of numbers; integers wrap.
template <class T>
void convolve_by_columns(const ConvShape& shape, const T* source, const T* weights, const T* bias, T* destination,
                         T* columns);
template <class T>
void convolve_backward_input_by_columns(const ConvShape& shape, const T* gradient, const T* weights, T* source_gradient,
                                        T* columns);
template <class T>
void convolve_backward_weight_by_columns(const ConvShape& shape, const T* gradient, const T* source, T* weight_gradient,
                                         T* columns);

}  // namespace terra::cpu
