// Special functions of mathematics, applied to each element.
#pragma once
#include "engine/ops/op.h"

namespace terra::ops {

extern const Op lgamma, digamma, polygamma, polygamma_method, special_zeta, igamma, igammac;
extern const Op erfinv, special_ndtri, special_erfcx, special_log_ndtr, logit;
extern const Op special_ndtr, special_entr, special_xlog1py;
extern const Op i0, special_i0e, special_i1, special_i1e;
// polynomials.cpp
extern const Op orthogonal_polynomial, special_chebyshev_polynomial_t, special_chebyshev_polynomial_u,
    special_chebyshev_polynomial_v, special_chebyshev_polynomial_w, special_shifted_chebyshev_polynomial_t,
    special_shifted_chebyshev_polynomial_u, special_shifted_chebyshev_polynomial_v,
    special_shifted_chebyshev_polynomial_w, special_hermite_polynomial_h, special_hermite_polynomial_he,
    special_laguerre_polynomial_l, special_legendre_polynomial_p;
// bessel.cpp
extern const Op bessel_function, special_airy_ai, special_bessel_j0, special_bessel_j1, special_bessel_y0,
    special_bessel_y1, special_modified_bessel_i0, special_modified_bessel_i1, special_modified_bessel_k0,
    special_modified_bessel_k1, special_scaled_modified_bessel_k0, special_scaled_modified_bessel_k1,
    special_spherical_bessel_j0;

}  // namespace terra::ops
