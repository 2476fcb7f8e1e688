// Elements of two tensors, compared one by one, whatever their strides.
#pragma once
#include <cstddef>
#include <optional>

#include "engine/tensor/tensor.h"

namespace terra::capture {

/// Relative error that a reassociated computation in this dtype may have; 0 for dtypes that are exact.
double tolerance(DType dtype);

/// Whether two numbers may be results of one computation: `relative` counts for themselves and, a tenth of it, for the
/// `largest` that was computed with them; `allowed` is what they may differ by in any case.
bool near(double a, double b, double relative, double largest, double allowed);

/// Two elements at one place.
struct Apart {
  size_t place;  ///< in order
  double a, b;
};
/// The first elements that differ, of tensors alike in dtype and sizes. `exact`: by a bit.
std::optional<Apart> first_apart(const TensorImpl& a, const TensorImpl& b, bool exact, double allowed);
/// The largest distance between two elements at one place; infinite where only one of them is a finite number.
double distance(const TensorImpl& a, const TensorImpl& b);

}  // namespace terra::capture
