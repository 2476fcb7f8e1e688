// Special functions that come in kinds, of one number in double; engine/ops/bessel.cpp and engine/ops/polynomials.cpp
// name the kinds.
#pragma once

namespace terra::cpu {

double bessel_function(double x, int kind);
/// Of degree n, whose fraction doesn't count; 0 for a negative one.
double orthogonal_polynomial(double x, double n, int kind);

}  // namespace terra::cpu
