// One element of any dtype as a number, and back.
#pragma once
#include "kernels/abi/scalar.h"

namespace terra {

Scalar load_element(const void* data, DType dtype);
/// Converts as kernels do: fractions are cut off, integers wrap around, complex numbers lose their imaginary part.
void store_element(void* data, DType dtype, const Scalar& value);

}  // namespace terra
