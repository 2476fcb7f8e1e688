// Convolution as matrix products over unfolded images, for dtypes that oneDNN doesn't compute in.
#pragma once
#include "kernels/cpu/convolution.h"

namespace terra::cpu {

/// Elements of scratch that one pass wants.
int64_t column_elements(const ConvShape& shape);

/// Plain NCHW and OIHW operands; `columns` is the scratch. Images are taken in order and threads work inside the
/// products, so results don't depend on their number.
void convolve_by_columns(const ConvShape& shape, const double* source, const double* weights, const double* bias,
                         double* destination, double* columns);
void convolve_backward_input_by_columns(const ConvShape& shape, const double* gradient, const double* weights,
                                        double* source_gradient, double* columns);
void convolve_backward_weight_by_columns(const ConvShape& shape, const double* gradient, const double* source,
                                         double* weight_gradient, double* columns);

}  // namespace terra::cpu
