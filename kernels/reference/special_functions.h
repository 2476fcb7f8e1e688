// Special functions that come in kinds, of one number.
#pragma once

namespace terra::reference {

double bessel_function(double x, int kind);
double orthogonal_polynomial(double x, double n, int kind);

}  // namespace terra::reference
